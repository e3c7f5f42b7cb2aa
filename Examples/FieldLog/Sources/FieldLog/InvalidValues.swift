import CoreData

/// What the validation of a save has found.
struct InvalidValues {
  let reasons: [String]

  /// Nil if the error is not about values.
  init?(_ error: any Error) {
    let error = error as NSError
    let errors = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error]
    guard errors.allSatisfy({ $0.userInfo[NSValidationKeyErrorKey] != nil }) else { return nil }
    reasons = errors.map(\.localizedDescription)
  }
}
