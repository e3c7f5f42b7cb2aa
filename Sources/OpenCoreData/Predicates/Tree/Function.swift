/// The predefined functions, by the names that `NSExpression` gives them.
enum Function: String, CaseIterable {
  case sum = "sum:"
  case count = "count:"
  case minimum = "min:"
  case maximum = "max:"
  case average = "average:"
  case median = "median:"
  case mode = "mode:"
  case standardDeviation = "stddev:"
  case add = "add:to:"
  case subtract = "from:subtract:"
  case multiply = "multiply:by:"
  case divide = "divide:by:"
  case modulus = "modulus:by:"
  case raise = "raise:toPower:"
  case squareRoot = "sqrt:"
  case decimalLogarithm = "log:"
  case naturalLogarithm = "ln:"
  case exponential = "exp:"
  case floor = "floor:"
  case ceiling = "ceiling:"
  case truncate = "trunc:"
  case absolute = "abs:"
  case random = "random"
  case randomBelow = "random:"
  case now = "now"
  case bitwiseAnd = "bitwiseAnd:with:"
  case bitwiseOr = "bitwiseOr:with:"
  case bitwiseXor = "bitwiseXor:with:"
  case leftShift = "leftshift:by:"
  case rightShift = "rightshift:by:"
  case onesComplement = "onesComplement:"
  case lowercase = "lowercase:"
  case uppercase = "uppercase:"
  case canonical = "canonical:"
  case length = "length:"
  case noIndex = "noindex:"
  case distance = "distanceToLocation:fromLocation:"
  case cast = "castObject:toType:"
  case index = "objectFrom:withIndex:"

  /// How many arguments the function takes: one for each colon of its name.
  var argumentCount: Int { rawValue.count { $0 == ":" } }

  /// The function that a format calls by this name. If the function takes one argument, the colon may be missing.
  init?(name: String, argumentCount: Int) {
    if let function = Function(rawValue: name), function.argumentCount == argumentCount {
      self = function
    } else if argumentCount == 1, let function = Function(rawValue: name + ":") {
      self = function
    } else {
      return nil
    }
  }
}

/// An operator that the format language writes between the two arguments of a function.
struct Infix {
  let symbol: String
  /// The operator with the greater precedence binds tighter. Set operators have the precedence 0.
  let precedence: Int
  let function: Function

  static let all = [
    Infix(symbol: "|", precedence: 1, function: .bitwiseOr),
    Infix(symbol: "^", precedence: 2, function: .bitwiseXor),
    Infix(symbol: "&", precedence: 3, function: .bitwiseAnd),
    Infix(symbol: "<<", precedence: 4, function: .leftShift),
    Infix(symbol: ">>", precedence: 4, function: .rightShift),
    Infix(symbol: "+", precedence: 5, function: .add),
    Infix(symbol: "-", precedence: 5, function: .subtract),
    Infix(symbol: "*", precedence: 6, function: .multiply),
    Infix(symbol: "/", precedence: 6, function: .divide),
    power,
  ]

  /// The only operator that associates to the right.
  static let power = Infix(symbol: "**", precedence: 8, function: .raise)

  /// The precedence of a sign before a value.
  static let signPrecedence = 7
}
