import Foundation
import Observation
import Synchronization

/// Tells Swift's Observation which properties of the objects of a context are read, and which have changed.
///
/// An object gets a registrar when one of its properties is first read by code that tracks its reads, such as that of
/// `withObservationTracking`. The registrars are kept here, so objects that nobody observes take no memory for them.
///
/// Used on the queue of the context, but an object may be freed on any thread.
final class ObjectObservation: @unchecked Sendable {
  private let detector = TrackingDetector()
  private let detection: KeyPath<ObservedProperties, Void>
  /// A registrar of no object. What tracks reads is noted here, too, so the registrar is replaced after the tracking:
  /// the observer of an object that never changes would stay. No access contains another, so that is not checked.
  @exclusivity(unchecked) private var probe = ObservationRegistrar()
  private var isProbeUsed = false
  private let observed = Locked<[ObjectIdentifier: ObservedObject]>([:])

  init() { detection = \ObservedProperties.[detector] }

  /// The number of objects that somebody has observed.
  var count: Int { observed.withLock(\.count) }

  /// Call this after a property was read.
  func noteAccess(to object: NSManagedObject, _ key: String) {
    guard isTracked, let place = object.layout.place(of: key) else { return }
    let registrar = observed.withLock { observed in
      observed[ObjectIdentifier(object), default: ObservedObject()].observe(place, ObservedValue(object, at: place))
    }
    object.isObserved = true
    registrar.access(ObservedProperties(), keyPath: \.[place])
  }

  /// Whether somebody tracks what the running code reads.
  private var isTracked: Bool {
    detector.begin()
    unsafe probe.access(ObservedProperties(), keyPath: detection)
    if detector.hasDetected {
      isProbeUsed = true
      return true
    }
    renewProbe()
    return false
  }

  private func renewProbe() {
    guard isProbeUsed else { return }
    unsafe probe = ObservationRegistrar()
    isProbeUsed = false
  }

  /// Call this after the application has changed a property of an observed object.
  func noteChange(of object: NSManagedObject, at place: Int) {
    observed.withLock { $0[ObjectIdentifier(object)]?.registrar }?.noteChange(at: place)
  }

  /// Tells the observers what else an event has changed: the other ends of relationships, and refreshed and deleted
  /// objects.
  func send(_ event: PendingEvent) {
    renewProbe()
    guard observed.withLock({ !$0.isEmpty }) else { return }
    let whole = ObjectList(event.deleted.elements + event.refreshed.elements)
    for object in ObjectList(event.changed + whole.elements) where object.isObserved {
      guard let observed = observed.withLock({ $0[ObjectIdentifier(object)] }) else { continue }
      if whole.contains(object) { observed.tellEverything() } else { observed.tellChanges(of: object) }
    }
  }

  /// Tells all observers: the objects are in no context any more.
  func end() {
    let ended = observed.withLock { observed in
      defer { observed = [:] }
      return observed.values.map { $0 }
    }
    for object in ended { object.tellEverything() }
  }

  /// Call this when an observed object is deinitialised. May be called on any thread.
  func forget(_ object: ObjectIdentifier) {
    let forgotten = observed.withLock { $0.removeValue(forKey: object) }
    withExtendedLifetime(forgotten) {}
  }
}

/// The registrar of an object, and the values that observers have read last, by their places.
private struct ObservedObject {
  let registrar = ObservationRegistrar()
  private var values: [Int: ObservedValue] = [:]

  mutating func observe(_ place: Int, _ value: ObservedValue) -> ObservationRegistrar {
    values[place] = value
    return registrar
  }

  func tellChanges(of object: NSManagedObject) {
    for (place, value) in values where !value.isCurrent(in: object, at: place) { registrar.noteChange(at: place) }
  }

  func tellEverything() {
    for place in values.keys { registrar.noteChange(at: place) }
  }
}

/// A value that an observer has read. Retains no object.
private enum ObservedValue {
  case value(ManagedValue)
  case toOne(NSManagedObjectID)
  /// The members of a to-many relationship after a number of edits.
  case members(edits: UInt32)
  /// A fetched property, or nothing: the object is in no context.
  case none

  init(_ object: NSManagedObject, at place: Int) {
    guard !object.values.isEmpty else {
      self = .none
      return
    }
    self =
      switch object.values[place] {
      case .reference(let id): .toOne(id)
      case .object(let object): .toOne(object.objectID)
      case .members(let members): .members(edits: members.edits)
      case .fault, .fetched: .none
      case let value: .value(value)
      }
  }

  func isCurrent(in object: NSManagedObject, at place: Int) -> Bool {
    switch (self, ObservedValue(object, at: place)) {
    case (.value(let left), .value(let right)): left.isEqual(right)
    case (.toOne(let left), .toOne(let right)): left == right
    case (.members(let left), .members(let right)): left == right
    case (.none, .none): true
    default: false
    }
  }
}

/// Stands for any object in key paths: a property is given by its place.
private struct ObservedProperties: Observable {
  subscript(place: Int) -> Void { () }
  subscript(detector: TrackingDetector) -> Void { () }
}

/// Observation does not tell whether reads are tracked, but it notes the key path of a read only if they are, and
/// hashes the key path then, with this detector in it.
private final class TrackingDetector: Hashable, Sendable {
  private let isHashed = Atomic(false)

  func begin() { isHashed.store(false, ordering: .relaxed) }

  var hasDetected: Bool { isHashed.load(ordering: .relaxed) }

  func hash(into hasher: inout Hasher) {
    isHashed.store(true, ordering: .relaxed)
    hasher.combine(ObjectIdentifier(self))
  }

  static func == (left: TrackingDetector, right: TrackingDetector) -> Bool { left === right }
}

extension ObservationRegistrar {
  fileprivate func noteChange(at place: Int) {
    withMutation(of: ObservedProperties(), keyPath: \.[place]) {}
  }
}

extension NSManagedObject {
  /// Tells Observation that a property was read.
  final func noteAccess(_ key: String) { registry?.observation.noteAccess(to: self, key) }

  /// Tells the observers of a property that it has changed.
  final func noteObservedChange(_ key: String) {
    guard isObserved, let place = layout.place(of: key) else { return }
    registry?.observation.noteChange(of: self, at: place)
  }
}
