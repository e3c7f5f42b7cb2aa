import Foundation

/// A place on earth, made from any value that has a `latitude` and a `longitude` in degrees.
struct Location {
  private let latitude: Double
  private let longitude: Double

  private init?(_ value: PredicateValue) {
    guard let latitude = value.value(forKey: "latitude").doubleValue,
      let longitude = value.value(forKey: "longitude").doubleValue
    else { return nil }
    self.latitude = latitude * .pi / 180
    self.longitude = longitude * .pi / 180
  }

  /// The distance in metres on a sphere of the earth's mean radius; null if either value is not a place.
  static func distance(to target: PredicateValue, from source: PredicateValue) -> PredicateValue {
    guard let target = Location(target), let source = Location(source) else { return .null }
    let (latitudes, longitudes) = (target.latitude - source.latitude, target.longitude - source.longitude)
    let haversine =
      pow(sin(latitudes / 2), 2) + cos(source.latitude) * cos(target.latitude) * pow(sin(longitudes / 2), 2)
    let meanRadiusMetres = 6_371_008.8
    return .double(2 * meanRadiusMetres * asin(min(1, haversine.squareRoot())))
  }
}
