/// Collects the warnings about a model while it is read, without duplicates.
final class ModelFileWarnings {
  private var warnings: Set<ModelFileWarning> = []

  /// The warnings so far: first those that are not about a line, then the others in the order of the lines.
  var sorted: [ModelFileWarning] { warnings.sorted { ($0.line ?? 0, $0.reason) < ($1.line ?? 0, $1.reason) } }

  func add(_ warning: ModelFileWarning) { warnings.insert(warning) }
}
