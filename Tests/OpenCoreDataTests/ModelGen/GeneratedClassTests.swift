import CoreData
import Testing

@Suite("Classes that modelgen has written")
struct GeneratedClassTests {
  @Test("attributes read and write values by their names, scalars are zero without one")
  func attributes() {
    let book = Book()
    #expect(book.pages == 0 && !book.isLent && book.price == nil && book.title == nil)
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
  }

  @Test("to-many relationships have functions that change their members")
  func unordered() {
    let (book, other) = (Book(), Book())
    let author = Author()
    book.addToAuthors(author)
    #expect(book.authors == NSSet(object: author))
    book.removeFromAuthors(NSSet(object: author))
    #expect(book.authors == NSSet())
    author.addToBooks(NSOrderedSet(array: [book, other]))
    author.insertIntoBooks(Book(), at: 1)
    #expect(author.books?.count == 3 && author.books?.index(of: other) == 2)
    author.removeFromBooks(at: NSIndexSet(indexesIn: NSRange(location: 0, length: 2)))
    author.replaceBooks(at: 0, with: book)
    #expect(author.books == NSOrderedSet(object: book))
  }

  @Test("to-one relationships and fetched properties are typed")
  func toOne() {
    let (reader, guarantor) = (Reader(), Reader())
    reader.guarantor = guarantor
    reader.address = ["city": "Concord"]
    #expect(reader.guarantor === guarantor)
    #expect(reader.address?["city"] as? String == "Concord")
    #expect(Author().longBooks.isEmpty)
  }

  @Test("requests are for the class that is asked for")
  func requests() {
    let books = Book.fetchRequest() as NSFetchRequest<Book>
    let magazines: NSFetchRequest<Magazine> = Magazine.fetchRequest()
    #expect(books.entityName == "Book" && magazines.entityName == "Magazine")
  }

  @Test("a class of an entity that inherits inherits")
  func inheritance() {
    let entry = DIEntry()
    entry.mood = NSNumber(value: -2)
    #expect(entry.mood == -2)
    let publication: Publication = Magazine()
    #expect(publication.id == ObjectIdentifier(publication))
  }
}
