/// Why a service has not answered.
public enum RemoteFailure: Error, Hashable, Codable, Sendable, CustomStringConvertible {
  /// The request did not reach the service, for instance without a network. It may be repeated.
  case unreachable(String)
  /// The request may have reached the service, and the answer was lost or cut.
  case answerLost(String)
  /// The service has refused the request for now; it may be repeated after this time, if there is one.
  case later(Duration?)
  /// A new object of this entity was sent, and the answer has not come. An object that is not known may be the new one,
  /// so it is not taken before the change is sent again and answered.
  case unsettled(String)
  /// The service does not accept the account's credentials. Nothing is sent until ``RemoteIncrementalStore/retry()``.
  case unauthorized(String)
  /// The service cannot do this at all.
  case unsupported
  /// The object, or the list, does not exist any more.
  case gone
  /// The service has refused the request for good.
  case refused(String)
  /// The answer is not one that can be understood.
  case invalidAnswer(String)

  /// The reason, in words.
  public var description: String {
    switch self {
    case .unreachable(let reason): "the service cannot be reached: \(reason)"
    case .answerLost(let reason): "the answer of the service was lost: \(reason)"
    case .later(let time): "the service asks to come back later\(time.map { ", in \($0)" } ?? "")"
    case .unsettled(let name): "a new \(name) was sent to the service and not answered yet"
    case .unauthorized(let reason): "the service does not accept the credentials: \(reason)"
    case .unsupported: "the service does not offer this"
    case .gone: "this does not exist any more"
    case .refused(let reason): "the service refuses: \(reason)"
    case .invalidAnswer(let reason): "the answer of the service is invalid: \(reason)"
    }
  }
}
