// `import Faultline` alone gives a model file the names of `import Foundation` and `import SwiftData` elsewhere.
@_exported public import FaultlineBackup
@_exported public import FaultlineMigration
@_exported public import FaultlineModel
@_exported public import FaultlineObjects
@_exported public import FaultlineText
@_exported public import Foundation
@_exported public import Observation
