/// The disks that a power loss at one moment may leave, each once.
///
/// With few uncertain items: all combinations of all versions, lengths, legal sets of changed entries and fills, then
/// random ones with torn sectors. With many: the two extremes under every set of changed entries, every prefix of the
/// writes, every single sector lost and every single sector written, as many as fit, then random ones, which always get
/// a share. The order depends only on the options and the disk.
package struct CrashImages: Sequence, IteratorProtocol {
    private let space: CrashSpace
    private let options: CrashOptions
    private var random: Seed
    private var seen: Set<CrashChoice> = []
    private var odometer: [Int]?
    private var digits: [Int]
    private var planned: [CrashChoice] = []
    /// The number of images still to come from the plan.
    private var plannedLeft: Int
    /// The number of random images still to come, and of attempts for one: some are duplicates.
    private var samplesLeft: Int
    private var attemptsLeft: Int

    /// Whether the images include all combinations (but for torn sectors and lengths that no write left).
    package let isExhaustive: Bool

    init(of state: SimulatedState, options: CrashOptions) {
        precondition(!options.fills.isEmpty, "Unwritten space holds something: give at least one fill.")
        let space = CrashSpace(state, options: options)
        self.space = space
        self.options = options
        random = Seed(options.seed)
        digits = [space.outcomes.count, options.fills.count]
        digits += space.files.map(\.byteCounts.count)
        for file in space.files { digits += file.sectors.map { $0.versions.count + 1 } }
        var product = 1
        for digit in digits {
            let (next, overflow) = product.multipliedReportingOverflow(by: digit)
            product = overflow ? Int.max : next
        }
        let isExhaustive =
            space.hasEveryOutcome && space.itemCount <= options.exhaustiveItemMax
            && product <= options.exhaustiveImageMax
        self.isExhaustive = isExhaustive
        odometer = isExhaustive ? digits.map { _ in 0 } : nil
        let hasNoSamples = space.files.isEmpty || isExhaustive && options.tornOneIn == 0
        samplesLeft = hasNoSamples ? 0 : options.sampleCount
        attemptsLeft = samplesLeft * Self.attemptsForASample
        plannedLeft = Swift.max(0, (options.imageCountMax ?? .max) - samplesLeft)
        if !isExhaustive { planned = plan().reversed() }
    }

    private static let attemptsForASample = 4

    package mutating func next() -> CrashImage? {
        while var choice = nextCombination() ?? nextPlanned() {
            choice.normalize(in: space)
            guard seen.insert(choice).inserted else { continue }
            if !isExhaustive { plannedLeft -= 1 }
            return CrashImage(disk: choice.makeDisk(in: space), choice: choice, space: space)
        }
        while samplesLeft > 0, attemptsLeft > 0 {
            attemptsLeft -= 1
            var choice = sample()
            choice.normalize(in: space)
            guard seen.insert(choice).inserted else { continue }
            samplesLeft -= 1
            return CrashImage(disk: choice.makeDisk(in: space), choice: choice, space: space)
        }
        return nil
    }

    private mutating func nextPlanned() -> CrashChoice? { plannedLeft > 0 ? planned.popLast() : nil }

    private mutating func nextCombination() -> CrashChoice? {
        if var wheel = odometer {
            let choice = decode(wheel)
            var place = wheel.count - 1
            while place >= 0 {
                wheel[place] += 1
                if wheel[place] < digits[place] { break }
                wheel[place] = 0
                place -= 1
            }
            odometer = place < 0 ? nil : wheel
            return choice
        }
        return nil
    }

    private func decode(_ wheel: [Int]) -> CrashChoice {
        let fileCount = space.files.count
        return CrashChoice(
            outcome: wheel[0], fill: options.fills[wheel[1]],
            byteCounts: space.files.indices.map { space.files[$0].byteCounts[wheel[2 + $0]] },
            versions: Array(wheel[(2 + fileCount)...]), cuts: [])
    }

    // MARK: many items

    private var newest: CrashChoice {
        CrashChoice(
            outcome: space.outcomes.count - 1, fill: options.fills[0],
            byteCounts: space.files.map { $0.byteCounts[$0.byteCounts.count - 1] },
            versions: space.files.flatMap { $0.sectors.map(\.versions.count) }, cuts: [])
    }

    private var oldest: CrashChoice {
        CrashChoice(
            outcome: 0, fill: options.fills[0], byteCounts: space.files.map { $0.byteCounts[0] },
            versions: space.files.flatMap { $0.sectors.map { _ in 0 } }, cuts: [])
    }

    /// The images most likely to show an error, before the random ones.
    private mutating func plan() -> [CrashChoice] {
        let newest = newest
        let oldest = oldest
        var extremes: [CrashChoice] = []
        for outcome in space.outcomes.indices {
            for var choice in [oldest, newest] {
                choice.outcome = outcome
                extremes.append(choice)
            }
        }
        let count = newest.versions.count
        var singles: [CrashChoice] = []
        let picked = count <= 64 ? Array(0..<count) : (0..<64).map { _ in random.below(count) }
        for place in picked {
            for fill in options.fills {
                var onlyOld = newest
                onlyOld.fill = fill
                onlyOld.versions[place] = 0
                var onlyNew = newest
                onlyNew.fill = fill
                for other in 0..<count where other != place { onlyNew.versions[other] = 0 }
                var prefix = newest
                prefix.fill = fill
                for other in place..<count { prefix.versions[other] = 0 }
                singles += [onlyOld, onlyNew, prefix]
            }
        }
        // If there is room for a part only, it takes from both alternately.
        return (0..<Swift.max(extremes.count, singles.count)).flatMap { place in
            extremes.dropFirst(place).prefix(1) + singles.dropFirst(place).prefix(1)
        }
    }

    private mutating func sample() -> CrashChoice {
        var choice = newest
        if random.oneIn(2) { choice.outcome = random.below(space.outcomes.count) }
        choice.fill = options.fills[random.below(options.fills.count)]
        for (index, file) in space.files.enumerated() {
            let least = file.byteCounts[0]
            let most = file.byteCounts[file.byteCounts.count - 1]
            switch random.below(4) {
            case 0: choice.byteCounts[index] = random.pick(file.byteCounts)
            case 1: choice.byteCounts[index] = least + random.below(most - least + 1)
            default: choice.byteCounts[index] = most
            }
        }
        let isTorn = options.tornOneIn > 0
        if isTorn { choice.cuts = choice.versions.map { _ in SimulatedFile.sectorByteCount } }
        let density = [1, 4, 7, 8][random.below(4)]
        for place in choice.versions.indices {
            let newestVersion = choice.versions[place]
            if random.below(8) >= density {
                choice.versions[place] = 0
            } else if newestVersion > 1, random.oneIn(2) {
                choice.versions[place] = random.below(newestVersion + 1)
            }
            if isTorn, choice.versions[place] > 0, random.oneIn(options.tornOneIn) {
                choice.cuts[place] = tornByteCount()
            }
        }
        let written = choice.versions.indices.filter { choice.versions[$0] > 0 }
        if isTorn, !written.isEmpty, choice.cuts.allSatisfy({ $0 == SimulatedFile.sectorByteCount }) {
            choice.cuts[random.pick(written)] = tornByteCount()
        }
        return choice
    }

    private mutating func tornByteCount() -> Int { 1 + random.below(SimulatedFile.sectorByteCount - 1) }
}

extension SimulatedDisk {
    /// The disks that a power loss now may leave.
    package func crashImages(_ options: CrashOptions = CrashOptions()) -> CrashImages {
        CrashImages(of: frozen(), options: options)
    }

    /// The harshest of them: only the certain data.
    package func withOnlyWhatIsDurable() -> SimulatedDisk {
        var options = CrashOptions()
        options.exhaustiveItemMax = 0
        options.fills = [.zeros]
        options.sampleCount = 0
        var images = crashImages(options)
        return images.next()?.disk ?? SimulatedDisk()
    }
}
