import CoreData
import Observation
import Synchronization
import Testing

@testable import OpenCoreData

@Suite("Classes that modelgen has written")
struct GeneratedClassTests {
  private let context: NSManagedObjectContext

  init() throws { context = try Self.context() }

  private static func context(_ bookClass: Book.Type = Book.self) throws -> NSManagedObjectContext {
    let model = try NSManagedObjectModel(modelFileAt: Fixtures.models.appending(path: "Library.xcdatamodeld"))
    // The model names the class Library.Reader, but the class is in this module.
    model.entitiesByName["Reader"]?.managedObjectClassName = NSStringFromClass(Reader.self)
    model.entitiesByName["Book"]?.managedObjectClassName = NSStringFromClass(bookClass)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    _ = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test(
    "Generated attributes read and write values, begin with defaults, and scalars without a value are zero."
  )
  func attributes() {
    context.performAndWait {
      let book = Book(context: context)
      #expect(book.pages == 100 && !book.isLent && book.price == NSDecimalNumber(string: "9.99"))
      book.setValue(nil, forKey: "pages")
      book.price = nil
      #expect(book.pages == 0 && book.price == nil)
      book.pages = 120
      book.isLent = true
      book.price = NSDecimalNumber(string: "9.99")
      book.title = "Walden"
      book.keywords = ["pond"]
      book.rating = 4.5
      #expect(book.pages == 120 && book.isLent && book.price == NSDecimalNumber(string: "9.99"))
      #expect(book.value(forKey: "title") as? String == "Walden")
      #expect(book.keywords == ["pond"] && book.rating == 4.5)
      book.title = nil
      #expect(book.title == nil)
      book.setValue(NSNumber(value: 7), forKey: "pages")
      #expect(book.pages == 7)
      book.setValue(8, forKey: "pages")
      #expect(book.pages == 8)
    }
  }

  @Test("Generated classes are observable, and observers of their properties are told of changes.")
  func observation() {
    let told = Told()
    context.performAndWait {
      let book = Book(context: context)
      #expect(book as AnyObject is any Observable)
      withObservationTracking({ _ = book.title }, onChange: { told.count.add(1, ordering: .relaxed) })
      book.pages = 120
      #expect(told.count.load(ordering: .relaxed) == 0)
      book.title = "Walden"
      #expect(told.count.load(ordering: .relaxed) == 1)
    }
  }

  private final class Told: Sendable {
    let count = Atomic(0)
  }

  @Test("Generated properties call the methods that a class, or one that it inherits from, overrides.")
  func overrides() throws {
    for bookClass in [ReplacingBook.self, InheritingBook.self] as [ReplacingBook.Type] {
      let context = try Self.context(bookClass)
      context.performAndWait {
        let book = bookClass.init(context: context)
        book.title = "Walden"
        book.pages = 1
        book.isLent = true
        #expect(book.title == "title" && book.pages == 7 && book.isLent)
        #expect(book.calls == ["set title", "set pages", "set isLent", "title", "pages", "isLent"])
        #expect(book.primitiveValue(forKey: "title") as? String == "Walden")
      }
    }
  }

  @Test("Validation asks a class that overrides validateValue about all properties.")
  func validation() throws {
    let context = try Self.context(InheritingBook.self)
    context.performAndWait {
      let book = InheritingBook(context: context)
      // It has no author.
      #expect(throws: NSError.self) { try book.validateForInsert() }
      #expect(Set(book.calls) == Set(book.entity.propertiesByName.keys.map { "validate \($0)" }))
    }
  }

  @Test("Generated properties call willAccessValue, didAccessValue, willChangeValue and didChangeValue.")
  func accesses() throws {
    let context = try Self.context(WatchingBook.self)
    context.performAndWait {
      let book = WatchingBook(context: context)
      book.calls = []
      book.title = "Walden"
      _ = book.pages
      #expect(book.calls == ["will change title", "did change title", "will access pages", "did access pages"])
    }
  }

  @Test("Only classes that override a method, or inherit from one that does, count as overriding it.")
  func overriddenMethods() {
    #expect(!OverriddenMethod.value.isOverridden(in: NSManagedObject.self))
    #expect(!OverriddenMethod.setValue.isOverridden(in: NSManagedObject.self))
    #expect(!OverriddenMethod.validateValue.isOverridden(in: NSManagedObject.self))
    for plain in [Book.self, WatchingBook.self, Reader.self] as [NSManagedObject.Type] {
      #expect(!OverriddenMethod.value.isOverridden(in: plain) && !OverriddenMethod.setValue.isOverridden(in: plain))
      #expect(!OverriddenMethod.validateValue.isOverridden(in: plain))
    }
    for overriding in [ReplacingBook.self, InheritingBook.self] as [NSManagedObject.Type] {
      #expect(OverriddenMethod.value.isOverridden(in: overriding))
      #expect(OverriddenMethod.setValue.isOverridden(in: overriding))
      #expect(OverriddenMethod.validateValue.isOverridden(in: overriding))
    }
    #expect(OverriddenMethod.value.isOverridden(in: ReadingBook.self))
    #expect(!OverriddenMethod.setValue.isOverridden(in: ReadingBook.self))
  }

  @Test("A generated property reads an attribute of another type as the conversion of its value.")
  func otherTypes() {
    context.performAndWait {
      let book = Book(context: context)
      book.setValue(2.75, forKey: "rating")
      #expect(book.attributeValue(forKey: "rating") == 2.75 as Double?)
      #expect(book.attributeValue(forKey: "rating") == 2 as Int32?)
      #expect(book.attributeValue(forKey: "pages") == 100 as Float?)
      #expect(book.attributeValue(forKey: "pages") == true as Bool?)
      #expect(book.attributeValue(forKey: "price") == 9 as Int64?)
      book.setAttributeValue(Int64(3), forKey: "rating")
      #expect(book.rating == 3)
    }
  }

  @Test("Reading a number too large for its attribute truncates it, and a save refuses it.")
  func largeNumber() {
    context.performAndWait {
      let book = Book(context: context)
      book.title = "Walden"
      book.setValue(Int64(Int32.max) + 2, forKey: "pages")
      #expect(book.pages == Int32.min + 1)
      #expect(book.value(forKey: "pages") as? Int64 == Int64(Int32.max) + 2)
      let error = #expect(throws: NSError.self) { try context.save() }
      let errors = error?.userInfo[NSDetailedErrorsKey] as? [NSError] ?? error.map { [$0] } ?? []
      let tooLarge = errors.filter { $0.code == NSValidationNumberTooLargeError }
      #expect(tooLarge.map { $0.userInfo[NSValidationKeyErrorKey] as? String } == ["pages"])
    }
  }

  @Test("Generated to-many relationships have methods that change the members and the other end.")
  func unordered() {
    context.performAndWait {
      let (book, other) = (Book(context: context), Book(context: context))
      let author = Author(context: context)
      book.addToAuthors(author)
      #expect(book.authors == NSSet(object: author) && author.books == NSOrderedSet(object: book))
      book.removeFromAuthors(NSSet(object: author))
      #expect(book.authors == NSSet() && author.books?.count == 0)
      author.addToBooks(NSOrderedSet(array: [book, other]))
      author.insertIntoBooks(Book(context: context), at: 1)
      #expect(author.books?.count == 3 && author.books?.index(of: other) == 2)
      author.removeFromBooks(at: NSIndexSet(indexesIn: NSRange(location: 0, length: 2)))
      author.replaceBooks(at: 0, with: book)
      #expect(author.books == NSOrderedSet(object: book))
      other.addToAuthors(book.mutableSetValue(forKey: "authors"))
      #expect(other.authors == NSSet(object: author))
      book.removeFromAuthors(other.mutableSetValue(forKey: "authors"))
      #expect(book.authors == NSSet() && author.books == NSOrderedSet(object: other))
    }
  }

  @Test("Generated to-one relationships and fetched properties are typed.")
  func toOne() {
    context.performAndWait {
      let (reader, guarantor) = (Reader(context: context), Reader(context: context))
      reader.guarantor = guarantor
      reader.address = ["city": "Concord"]
      #expect(reader.guarantor === guarantor)
      #expect(reader.address?["city"] as? String == "Concord")
      #expect(Author(context: context).longBooks.isEmpty)
    }
  }

  @Test("A generated request is for the class that it is requested of.")
  func requests() {
    let books = Book.fetchRequest() as NSFetchRequest<Book>
    let magazines: NSFetchRequest<Magazine> = Magazine.fetchRequest()
    #expect(books.entityName == "Book" && magazines.entityName == "Magazine")
  }

  @Test("The generated class of a subentity inherits from that of its superentity.")
  func inheritance() {
    context.performAndWait {
      let publication: Publication = Magazine(context: context)
      #expect(publication.id == ObjectIdentifier(publication) && publication.entity.name == "Magazine")
    }
  }
}

class ReplacingBook: Book {
  var calls: [String] = []

  override func value(forKey key: String) -> Any? {
    calls.append(key)
    return key == "title" ? key : key == "pages" ? 7 as NSNumber : super.value(forKey: key)
  }

  override func setValue(_ value: Any?, forKey key: String) {
    calls.append("set \(key)")
    super.setValue(value, forKey: key)
  }

  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    calls.append("validate \(key)")
    try super.validateValue(&value, forKey: key)
  }
}

final class InheritingBook: ReplacingBook {}

final class ReadingBook: Book {
  override func value(forKey key: String) -> Any? { super.value(forKey: key) }
}

final class WatchingBook: Book {
  var calls: [String] = []

  override func willAccessValue(forKey key: String?) {
    calls.append("will access \(key ?? "")")
    super.willAccessValue(forKey: key)
  }

  override func didAccessValue(forKey key: String?) {
    calls.append("did access \(key ?? "")")
    super.didAccessValue(forKey: key)
  }

  override func willChangeValue(forKey key: String) {
    calls.append("will change \(key)")
    super.willChangeValue(forKey: key)
  }

  override func didChangeValue(forKey key: String) {
    calls.append("did change \(key)")
    super.didChangeValue(forKey: key)
  }
}
