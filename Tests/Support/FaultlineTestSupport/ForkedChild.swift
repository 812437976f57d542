internal import CFaultlineTestSupport

/// A child made by `fork`, with the calling thread only.
///
/// Other threads of the parent may hold locks of the runtime, which the child has for ever: run the body in the parent
/// first, so that it finds everything made.
package enum ForkedChild {
    /// Runs the body in a child, and returns its result; -14 if it takes longer than 20 s.
    package static func result(of body: () -> UInt8) -> Int {
        withoutActuallyEscaping(body) { body in
            var body = body
            return withUnsafeMutablePointer(to: &body) { pointer in
                let run: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { context in
                    guard let context else { return 255 }
                    return Int32(context.assumingMemoryBound(to: (() -> UInt8).self).pointee())
                }
                return Int(fl_test_in_child(run, pointer, 20))
            }
        }
    }
}
