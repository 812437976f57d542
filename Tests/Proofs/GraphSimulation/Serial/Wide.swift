internal import Faultline
internal import Foundation

/// An entity of 80 properties: more than the number of bits in a change mask.
@Model final class Wide {
    #Index<Wide>([\.key])
    var key: Int
    var p1 = 0
    var p2 = 0
    var p3 = 0
    var p4 = 0
    var p5 = 0
    var p6 = 0
    var p7 = 0
    var p8 = 0
    var p9 = 0
    var p10 = 0
    var p11 = 0
    var p12 = 0
    var p13 = 0
    var p14 = 0
    var p15 = 0
    var p16 = 0
    var p17 = 0
    var p18 = 0
    var p19 = 0
    var p20 = 0
    var p21 = 0
    var p22 = 0
    var p23 = 0
    var p24 = 0
    var p25 = 0
    var p26 = 0
    var p27 = 0
    var p28 = 0
    var p29 = 0
    var p30 = 0
    var p31 = 0
    var p32 = 0
    var p33 = 0
    var p34 = 0
    var p35 = 0
    var p36 = 0
    var p37 = 0
    var p38 = 0
    var p39 = 0
    var p40 = 0
    var p41 = 0
    var p42 = 0
    var p43 = 0
    var p44 = 0
    var p45 = 0
    var p46 = 0
    var p47 = 0
    var p48 = 0
    var p49 = 0
    var p50 = 0
    var p51 = 0
    var p52 = 0
    var p53 = 0
    var p54 = 0
    var p55 = 0
    var p56 = 0
    var p57 = 0
    var p58 = 0
    var p59 = 0
    var p60 = 0
    var p61 = 0
    var p62 = 0
    var p63 = 0
    var p64 = 0
    var p65 = 0
    var p66 = 0
    var p67 = 0
    var p68 = 0
    var p69 = 0
    var p70 = 0
    var p71 = 0
    var p72 = 0
    var p73 = 0
    var p74 = 0
    var p75 = 0
    var p76 = 0
    var p77 = 0
    var p78 = 0
    var p79 = 0
    init(_ key: Int) { self.key = key }
}

extension Wide: SerialObject {
    static var byKey: SortDescriptor<Wide> { SortDescriptor(\.key) }
    private static let paths: [any ReferenceWritableKeyPath<Wide, Int> & Sendable] = [
        \.p1, \.p2, \.p3, \.p4, \.p5, \.p6, \.p7, \.p8, \.p9,
        \.p10, \.p11, \.p12, \.p13, \.p14, \.p15, \.p16, \.p17, \.p18,
        \.p19, \.p20, \.p21, \.p22, \.p23, \.p24, \.p25, \.p26, \.p27,
        \.p28, \.p29, \.p30, \.p31, \.p32, \.p33, \.p34, \.p35, \.p36,
        \.p37, \.p38, \.p39, \.p40, \.p41, \.p42, \.p43, \.p44, \.p45,
        \.p46, \.p47, \.p48, \.p49, \.p50, \.p51, \.p52, \.p53, \.p54,
        \.p55, \.p56, \.p57, \.p58, \.p59, \.p60, \.p61, \.p62, \.p63,
        \.p64, \.p65, \.p66, \.p67, \.p68, \.p69, \.p70, \.p71, \.p72,
        \.p73, \.p74, \.p75, \.p76, \.p77, \.p78, \.p79,
    ]

    var target: Int { 0 }
    func read(_ slot: Int) -> Int { self[keyPath: Self.paths[slot]] }
    func set(_ slot: Int, to number: Int) { self[keyPath: Self.paths[slot]] = number }
    func refer(to target: (any SerialObject)?) {}
    var members: [Int] { [] }
}
