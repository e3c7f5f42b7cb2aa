public import Foundation

// Off Apple's platforms, objects and the values that are bridged to them cannot be arguments of formats by themselves.
// Predicates take the values as they are; `String(format:)` writes their descriptions for `%@`.

extension CVarArg where Self: _CVarArgObject & CustomStringConvertible {
  /// The description, as the object to pass to a C function.
  public var _cVarArgObject: any CVarArg { (description as any _CVarArgObject)._cVarArgObject }

  /// The description, encoded to pass to a C function.
  public var _cVarArgEncoding: [Int] { _cVarArgObject._cVarArgEncoding }
}

extension NSObject: @retroactive CVarArg, @retroactive _CVarArgObject {}
extension Date: @retroactive CVarArg, @retroactive _CVarArgObject {}
extension UUID: @retroactive CVarArg, @retroactive _CVarArgObject {}
extension URL: @retroactive CVarArg, @retroactive _CVarArgObject {}
extension Data: @retroactive CVarArg, @retroactive _CVarArgObject {}
extension Decimal: @retroactive CVarArg, @retroactive _CVarArgObject {}
extension Array: @retroactive CVarArg, @retroactive _CVarArgObject {}
extension Set: @retroactive CVarArg, @retroactive _CVarArgObject {}
extension Dictionary: @retroactive CVarArg, @retroactive _CVarArgObject {}
