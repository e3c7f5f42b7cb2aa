/// Gathers the warnings about a model while it is read, each once.
final class ModelFileWarnings {
  private var warnings: Set<ModelFileWarning> = []

  /// Those so far: what is not about a line, then in the order of the lines.
  var sorted: [ModelFileWarning] { warnings.sorted { ($0.line ?? 0, $0.reason) < ($1.line ?? 0, $1.reason) } }

  func add(_ warning: ModelFileWarning) { warnings.insert(warning) }
}
