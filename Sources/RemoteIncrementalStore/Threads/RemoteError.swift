import Foundation

/// Errors of remote stores.
public enum RemoteError {
  /// The domain of errors about a remote service, beside Cocoa's. The ``RemoteFailure``, if there is one, is the
  /// underlying error.
  public static let domain = "RemoteIncrementalStore"
  /// An object is not loaded, or a fetch has no answer.
  public static let notLoaded = 1
  /// The store belongs to another account.
  public static let otherAccount = 2
  /// There are changes that were not sent.
  public static let unsentChanges = 3

  static func make(_ text: String, code: Int = notLoaded, _ reason: (any Error)? = nil) -> NSError {
    var userInfo: [String: Any] = [NSLocalizedDescriptionKey: reason.map { "\(text) \($0)" } ?? text]
    if let reason { userInfo[NSUnderlyingErrorKey] = reason }
    return NSError(domain: domain, code: code, userInfo: userInfo)
  }
}
