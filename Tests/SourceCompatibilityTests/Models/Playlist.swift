import CoreData
import Foundation

class Playlist: NSManagedObject {
  var name: String? {
    get { value(forKey: "name") as? String }
    set { setValue(newValue, forKey: "name") }
  }
  var songs: NSOrderedSet? {
    get { value(forKey: "songs") as? NSOrderedSet }
    set { setValue(newValue, forKey: "songs") }
  }
  var fans: NSSet? {
    get { value(forKey: "fans") as? NSSet }
    set { setValue(newValue, forKey: "fans") }
  }

  override func prepareForDeletion() {
    super.prepareForDeletion()
    for case let song as Song in songs ?? [] { song.setValue(nil, forKey: "lastPlayed") }
  }
}

// What Xcode generates for relationships.
extension Playlist {
  func addToSongs(_ value: Song) { mutableOrderedSetValue(forKey: "songs").add(value) }
  func removeFromSongs(_ value: Song) { mutableOrderedSetValue(forKey: "songs").remove(value) }
  func insertIntoSongs(_ value: Song, at index: Int) {
    mutableOrderedSetValue(forKey: "songs").insert(value, at: index)
  }
  func addToFans(_ values: NSSet) {
    mutableSetValue(forKey: "fans").union(Set(values.allObjects as! [NSManagedObject]))
  }
  func removeFromFans(_ value: Fan) { mutableSetValue(forKey: "fans").remove(value) }

  var songArray: [Song] { songs?.array as? [Song] ?? [] }
  var fanNames: [String] {
    let set = fans as? Set<Fan> ?? []
    return set.map { $0.name }.sorted()
  }
}

class Song: NSManagedObject {
  var title: String {
    get { self["title"] as? String ?? "" }
    set { self["title"] = newValue }
  }
  var duration: TimeInterval {
    get { self["duration"] as? Double ?? 0 }
    set { self["duration"] = newValue }
  }
}

class Fan: NSManagedObject {
  var name: String {
    get { self["name"] as? String ?? "" }
    set { self["name"] = newValue }
  }
}

enum MusicModel {
  static func make() -> NSManagedObjectModel {
    let playlist = entity("Playlist", Playlist.self, [.attribute("name", .string)])
    let song = entity(
      "Song", Song.self,
      [.attribute("title", .string), .attribute("duration", .double), .attribute("lastPlayed", .date)])
    let fan = entity("Fan", Fan.self, [.attribute("name", .string)])
    connect(playlist, "songs", song, "playlist", isOrdered: true, toOne: true)
    connect(playlist, "fans", fan, "playlists", isOrdered: false, toOne: false)
    let model = NSManagedObjectModel()
    model.entities = [playlist, song, fan]
    return model
  }

  private static func entity(
    _ name: String, _ type: NSManagedObject.Type, _ properties: [NSPropertyDescription]
  ) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    entity.managedObjectClassName = NSStringFromClass(type)
    entity.properties = properties
    return entity
  }

  private static func connect(
    _ source: NSEntityDescription, _ name: String, _ target: NSEntityDescription, _ inverseName: String,
    isOrdered: Bool, toOne: Bool
  ) {
    let relationship = NSRelationshipDescription()
    let inverse = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = target
    relationship.inverseRelationship = inverse
    relationship.isOrdered = isOrdered
    inverse.name = inverseName
    inverse.destinationEntity = source
    inverse.inverseRelationship = relationship
    inverse.maxCount = toOne ? 1 : 0
    source.properties.append(relationship)
    target.properties.append(inverse)
  }
}
