/// The instance of a class that a value is; nil for a value of another type.
///
/// A cast to `AnyObject` would try to bridge the value first, which takes twenty times as long; only values that are kept as another
/// protocol's need it.
func classInstance(_ value: Any) -> AnyObject? {
  func opened<Value>(_ value: Value) -> AnyObject? {
    Value.self is AnyClass || Value.self == AnyObject.self ? unsafe unsafeBitCast(value, to: AnyObject.self) : nil
  }
  return _openExistential(value, do: opened) ?? (type(of: value) is AnyClass ? value as AnyObject : nil)
}
