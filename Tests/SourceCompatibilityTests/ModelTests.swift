import CoreData
import Foundation
import Testing

@Suite("Model code")
struct ModelTests {
  private func context(_ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test("Typed accessors of a model in code keep values and relationships.")
  func recipe() throws {
    let context = try context(CookbookModel.shared)
    try context.performAndWait {
      let recipe = Recipe(context: context)
      #expect(recipe.name == "Untitled")
      recipe.name = "Soup"
      recipe.id = UUID()
      recipe.website = URL(string: "https://example.com/soup")
      recipe.addIngredient("leek", price: 2)
      recipe.addIngredient("carrot", price: 1.5)
      try context.save()
      context.reset()
      let found = try #require(try context.fetch(Recipe.fetchRequest()).first)
      #expect(found.sortedIngredients.map(\.name) == ["carrot", "leek"])
      #expect(found.totalPrice == 3.5)
      #expect(found.servings == 2)
      #expect(found.website?.host == "example.com")
    }
  }

  @Test(
    "Requests of a class without its own request have results of that class, or of any if requested.")
  func todo() throws {
    let context = try context(.todo)
    try context.performAndWait {
      for (title, priority) in [("wash", TodoItem.Priority.high), ("dust", .low), ("cook", .normal)] {
        let item = TodoItem(context: context)
        item.title = title
        item.priority = priority
        #expect(item.createdAt != nil)
      }
      try context.save()
      #expect(try TodoItem.openItems(in: context).map(\.title) == ["cook", "wash"])
      #expect(try context.fetch(TodoItem.getAllItems()).map(\.isCompleted) == [false, false, false])
      #expect(try TodoItem.titles(in: context) == ["wash", "dust", "cook"])
    }
  }

  @Test("A class's request that asks for dictionaries ends the program and says what to write instead.")
  func unfitResultType() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .todo)
      try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait {
        _ = TodoItem(context: context)
        try context.save()
        let request = TodoItem.fetchRequest()
        request.resultType = .dictionaryResultType
        _ = try context.fetch(request)
      }
    }
    let output: [UInt8] = result?.standardErrorContent ?? []
    #expect(String(decoding: output, as: UTF8.self).contains("Make it an NSFetchRequest<NSFetchRequestResult>"))
  }

  @Test("Overridden validation throws the application's errors.")
  func account() throws {
    let context = try context(Account.model)
    try context.performAndWait {
      let account = Account(context: context)
      account.email = "nobody"
      let invalid = #expect(throws: NSError.self) { try context.save() }
      #expect(invalid?.domain == AccountError.domain)
      #expect(invalid?.userInfo[NSValidationKeyErrorKey] as? String == "email")
      account.birthday = Date(timeIntervalSince1970: 1_500_000_000)
      let both = #expect(throws: NSError.self) { try context.save() }
      #expect((both?.userInfo[NSDetailedErrorsKey] as? [NSError])?.map(\.code) == [1, 2])
      account.birthday = nil
      account.email = "admin@example.com"
      try context.save()
      var value: Any? = " Admin@Example.com "
      try account.validateValue(&value, forKey: "email")
      #expect(value as? String == "admin@example.com")
      context.delete(account)
      let refused = #expect(throws: CocoaError.self) { try context.save() }
      #expect(refused?.code == .managedObjectValidation)
    }
  }

  @Test("Value transformers of all kinds register and transform.")
  func palette() throws {
    let context = try context(Palette.model)
    try context.performAndWait {
      let color = RGB(red: 1, green: 0.5, blue: 0)
      let palette = Palette(context: context)
      palette.background = color
      palette.tags = ["warm", "loud"]
      try context.save()
      context.reset()
      let found = try #require(try context.fetch(NSFetchRequest<Palette>(entityName: "Palette")).first)
      #expect(found.background == color)
      #expect(found.tags == ["warm", "loud"])
      let transformer = try #require(ValueTransformer(forName: RGBTransformer.name))
      let data = transformer.transformedValue(color)
      #expect(transformer.reverseTransformedValue(data) as? RGB == color)
    }
    #expect(RoundingTransformer(digits: 1).transformedValue(NSNumber(value: 3.14159)) as? Double == 3.1)
    #expect(!RoundingTransformer.allowsReverseTransformation())
  }

  @Test("An abstract class is fetched with its subclasses.")
  func message() throws {
    let context = try context(Message.makeModel())
    try context.performAndWait {
      let start = Date(timeIntervalSinceReferenceDate: 0)
      _ = ImageMessage.insert(into: context, sender: "B", data: Data(count: 3), sentAt: start + 60)
      _ = TextMessage(sender: "A", text: "Hello", sentAt: start, context: context)
      try context.save()
      #expect(try Message.all(in: context).map(\.summary) == ["A: Hello", "B sent 3 bytes"])
    }
  }

  @Test("A protocol extension finds, counts and makes objects of the class that adopts it.")
  func managed() throws {
    let context = try context(Country.model)
    try context.performAndWait {
      for code in ["NZ", "FR", "NZ"] {
        let matching = NSPredicate(format: "%K == %@", "code", code)
        let country = try Country.findOrCreate(in: context, matching: matching) { $0.code = code }
        #expect(country.code == code)
      }
      try context.save()
      #expect(try Country.count(in: context) == 2)
      #expect(try context.fetch(Country.sortedFetchRequest).map(\.code) == ["NZ", "FR"])
      let french = Country.sortedFetchRequest(with: NSPredicate(format: "code BEGINSWITH 'F'"))
      #expect(try context.fetch(french).count == 1)
    }
  }

  @Test("Objects decode themselves into a context, and encode.")
  func trip() throws {
    let context = try context(Trip.model)
    let json = """
      [{"id": "6F9619FF-8B86-D011-B42D-00C04FC964FF", "title": "Alps", "starts_at": "2024-07-01T08:00:00Z",
        "stops": ["Chur", "Tirano"]}]
      """
    try context.performAndWait {
      let trips = try Trip.decode(json, into: context)
      try context.save()
      context.refreshAllObjects()
      #expect(trips.map(\.stops) == [["Chur", "Tirano"]])
      #expect(trips.first?.id.uuidString.hasPrefix("6F9619FF") == true)
      let encoded = try JSONSerialization.jsonObject(with: JSONEncoder().encode(trips)) as? [[String: Any]]
      #expect(encoded?.first?["title"] as? String == "Alps")
    }
    #expect(throws: DecoderConfigurationError.self) { try Trip.decode(json, into: nil) }
  }

  @Test("Generated accessors of ordered and unordered relationships change both ends.")
  func playlist() throws {
    let context = try context(MusicModel.make())
    try context.performAndWait {
      let playlist = Playlist(context: context)
      let songs = ["One", "Two", "Three"].map { title in
        let song = Song(context: context)
        song.title = title
        return song
      }
      songs.forEach(playlist.addToSongs)
      playlist.removeFromSongs(songs[1])
      playlist.insertIntoSongs(songs[1], at: 0)
      let fan = Fan(context: context)
      fan.name = "Ada"
      playlist.addToFans(NSSet(object: fan))
      try context.save()
      #expect(playlist.songArray.map(\.title) == ["Two", "One", "Three"])
      #expect(playlist.fanNames == ["Ada"])
      #expect(fan.value(forKeyPath: "playlists.@count") as? Int == 1)
      playlist.removeFromFans(fan)
      context.delete(playlist)
      try context.save()
      #expect(try context.count(for: NSFetchRequest<Song>(entityName: "Song")) == 3)
    }
  }

  @Test("Overridden properties of descriptions and requests take effect.")
  func customDescriptions() throws {
    let plain = NSAttributeDescription()
    (plain.name, plain.attributeType) = ("state", .stringAttributeType)
    let custom = EnumAttributeDescription(name: "state", cases: ["open"])
    #expect(custom.versionHash.count == plain.versionHash.count + 4)
    let context = try context(Ticket.model)
    try context.performAndWait {
      for days in [1.0, 30.0] {
        let ticket = Ticket(context: context)
        #expect(ticket.state == "open")
        ticket.setValue(Date(timeIntervalSinceReferenceDate: -days * 86400), forKey: "updatedAt")
      }
      try context.save()
      let request = RecentRequest(entityName: "Ticket")
      #expect(try context.fetch(request).count == 1)
      request.days = 60
      request.predicate = NSPredicate(format: "state == %@", "open")
      #expect(try context.fetch(request).count == 2)
      #expect(try context.fetch(request) is [Ticket])
      #expect(Ticket.entity().name == "Ticket")
    }
  }

  @Test("The index properties from before Xcode 9 keep the values they are set to.")
  func legacyIndexes() {
    let entity: any LegacyIndexing = LegacyIndexedEntity()
    let description = entity.describe()
    #expect(description.isIndexed)
    #expect(description.compound == [["name", "age"]])
  }

  @Test("Transient, derived and fetched properties can be made in a builder and work.")
  func contact() throws {
    let context = try context(Contact.makeModel())
    try context.performAndWait {
      let contacts = [("Ada", "London"), ("Bob", "London"), ("Cem", "Izmir")].map { name, city in
        let contact = Contact(context: context)
        contact.name = name
        contact.city = city
        return contact
      }
      try context.save()
      #expect(contacts[0].neighbours.map(\.name) == ["Bob"])
      #expect(contacts[0].sortName == "ada")
      #expect(contacts[1].initial == "B")
      contacts[1].name = "zoe"
      #expect(contacts[1].initial == "Z")
      contacts[2].name = ""
      #expect(throws: CocoaError.self) { try context.save() }
    }
  }
}
