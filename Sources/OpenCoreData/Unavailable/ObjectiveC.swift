public import Foundation

// What needs the Objective-C runtime. The compiler says what to do instead.

extension NSManagedObject {
  /// Exists on Apple's platforms only.
  @available(
    *, unavailable,
    message: "There is no key-value observing: override didChangeValue(forKey:), or observe the context's notifications"
  )
  public func addObserver<Options, Context>(
    _ observer: NSObject, forKeyPath keyPath: String, options: Options, context: Context?
  ) {}

  /// Exists on Apple's platforms only.
  @available(*, unavailable, message: "There is no key-value observing: there is no observer to remove")
  public func removeObserver(_ observer: NSObject, forKeyPath keyPath: String) {}

  /// Exists on Apple's platforms only.
  @available(*, unavailable, message: "There is no key-value observing: override didChangeValue(forKey:)")
  public class func automaticallyNotifiesObservers(forKey key: String) -> Bool { false }
}
