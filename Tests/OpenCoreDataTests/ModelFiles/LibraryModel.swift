import Foundation
import Testing

import class OpenCoreData.NSExpression
@testable import OpenCoreData

/// The current version of `Library.xcdatamodeld`, made in code.
struct LibraryModel {
  let model = NSManagedObjectModel()
  private let author = entity("Author", class: "Author")
  private let book = entity("Book", class: "Book")
  private let magazine = entity("Magazine", class: "Magazine")
  private let publication = entity("Publication", class: "Publication")
  private let reader = entity("Reader", class: "Library.Reader")

  init() {
    declareAttributes()
    declareRelationships()
    declareIndexes()
    publication.isAbstract = true
    publication.subentities = [book, magazine]
    magazine.renamingIdentifier = "Journal"
    magazine.versionHashModifier = "v2"
    author.userInfo = ["exported": "yes", "note": ""]
    model.entities = [author, book, magazine, publication, reader]
    model.versionIdentifiers = ["2"]
    model.setEntities([author, book, publication], forConfigurationName: "Catalogue")
    model.setEntities([reader], forConfigurationName: "People")
    let affordable = request(book, "price <= $LIMIT")
    affordable.fetchLimit = 20
    affordable.fetchBatchSize = 5
    model.setFetchRequestTemplate(affordable, forName: "BooksOfPrice")
  }

  private func declareAttributes() {
    author.properties = [
      derived("bookCount", .integer64, from: "books.@count"),
      attribute("homepage", .uri, defaultValue: URL(string: "https://example.org/")),
      attribute(
        "id", .uuid, isOptional: false, defaultValue: UUID(uuidString: "0C5A6AF2-1F5E-4B0F-8D1B-2F6C0C9A7D11")
      ) { $0.preservesValueInHistoryOnDeletion = true },
      attribute("name", .string, isOptional: false) {
        $0.setValidation(
          [
            NSPredicate(format: "length >= 1"), NSPredicate(format: "length <= 80"),
            NSPredicate(format: "SELF MATCHES %@", "\\S.*"),
          ], warnings: [1670, 1660, 1680])
      },
      derived("searchName", .string, from: "canonical:(name)"),
    ]
    book.properties = [
      attribute("cover", .binaryData) { $0.allowsExternalBinaryDataStorage = true },
      attribute("isLent", .boolean, isOptional: false, defaultValue: false),
      attribute("pages", .integer32, defaultValue: 100) {
        $0.renamingIdentifier = "pageCount"
        $0.versionHashModifier = "counted"
        $0.setValidation(
          [NSPredicate(format: "SELF >= 1"), NSPredicate(format: "SELF <= 20000")], warnings: [1620, 1610])
      },
      attribute("price", .decimal, defaultValue: NSDecimalNumber(string: "9.99")) {
        $0.setValidation([NSPredicate(format: "SELF >= 0")], warnings: [1620])
      },
    ]
    magazine.properties = [
      attribute("issue", .integer16, isOptional: false, defaultValue: 1),
      attribute("weight", .float, defaultValue: 0.25),
    ]
    publication.properties = [
      attribute("keywords", .transformable) {
        $0.valueTransformerName = "NSSecureUnarchiveFromData"
        $0.attributeValueClassName = "[String]"
      },
      attribute("published", .date, defaultValue: Date(timeIntervalSinceReferenceDate: 0)) {
        $0.setValidation(
          [
            NSPredicate(format: "SELF >= %@", Date(timeIntervalSinceReferenceDate: -15_000_000_000)),
            NSPredicate(format: "SELF <= %@", Date(timeIntervalSinceReferenceDate: 3_000_000_000)),
          ], warnings: [1640, 1630])
      },
      attribute("rating", .double, defaultValue: 2.5) {
        $0.setValidation(
          [NSPredicate(format: "SELF >= 0.0"), NSPredicate(format: "SELF <= 5.0")], warnings: [1620, 1610])
      },
      attribute("scratch", .undefined) { $0.isTransient = true },
      attribute("title", .string, isOptional: false, defaultValue: "") {
        $0.userInfo = ["label": "Title & subtitle"]
      },
    ]
    reader.properties = [
      composite(
        "address",
        [
          attribute("city", .string),
          composite("place", [attribute("latitude", .double), attribute("longitude", .double)]),
        ]),
      derived("changed", .date, from: "now()"),
      attribute("thumbprint", .transformable) {
        $0.isTransient = true
        $0.attributeValueClassName = "NSData"
      },
    ]
  }

  private func declareRelationships() {
    let books = relationship("books", to: book) {
      $0.isOrdered = true
      $0.deleteRule = .denyDeleteRule
    }
    let authors = relationship("authors", to: author) {
      $0.isOptional = false
      $0.minCount = 1
      $0.maxCount = 10
    }
    let readers = relationship("readers", to: reader)
    let lent = relationship("books", to: book)
    connect(books, authors)
    connect(readers, lent)
    let guarantor = relationship("guarantor", to: reader, isToMany: false) { $0.deleteRule = .noActionDeleteRule }
    let longBooks = NSFetchedPropertyDescription()
    longBooks.name = "longBooks"
    longBooks.fetchRequest = request(book, "pages > 500 AND $FETCH_SOURCE IN authors")
    author.properties += [books, longBooks]
    book.properties += [authors, readers]
    reader.properties += [lent, guarantor]
  }

  private func declareIndexes() {
    let searchName = NSExpressionDescription()
    searchName.name = "searchName"
    searchName.isOptional = true
    searchName.expression = NSExpression(format: "searchName")
    searchName.resultType = .string
    author.indexes = [
      index("byName", [author.attributesByName["name"]!, searchName], isAscending: [true, false])
    ]
    author.uniquenessConstraints = [["id"], ["name", "homepage"]]
    let byPages = index("byPages", [book.attributesByName["pages"]!], isAscending: [false])
    byPages.partialIndexPredicate = NSPredicate(format: "pages > 0")
    book.indexes = [byPages]
  }
}
