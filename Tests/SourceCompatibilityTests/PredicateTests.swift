import CoreData
import Foundation
import Testing

@Suite("Predicate builders")
struct PredicateTests {
  private let context: NSManagedObjectContext
  private let start = Date(timeIntervalSince1970: 1_700_000_000)

  /// Three recipes: Soup and Stew of one cuisine, and Pie, in the order of their creation, a day apart.
  init() throws {
    context = PersistenceController().makeContext()
    let (context, start) = (context, start)
    try context.performAndWait {
      let rows: [(String, String?, Double, Int16, [(String, Decimal)])] = [
        ("Soup", "french", 4.5, 2, [("Leek", 2), ("Salt", 0.1)]),
        ("Stew", "french", 3, 4, [("Beef", 12), ("Leek", 2), ("Wine", 9)]),
        ("Pie", nil, 5, 8, [("Apple", 3)]),
      ]
      for (index, row) in rows.enumerated() {
        let recipe = Recipe(context: context)
        (recipe.name, recipe.cuisine, recipe.rating, recipe.servings) = (row.0, row.1, row.2, row.3)
        recipe.id = UUID()
        recipe.isFavorite = index == 0
        recipe.createdAt = start.addingTimeInterval(Double(index) * 86400)
        recipe.website = URL(string: "https://\(row.0.lowercased()).example/")
        recipe.thumbnail = Data(row.0.utf8)
        for (name, price) in row.4 { recipe.addIngredient(name, price: price) }
      }
      try context.save()
    }
  }

  private func names(_ predicate: NSPredicate?) throws -> [String] {
    try context.performAndWait {
      let request: NSFetchRequest<Recipe> = Recipe.fetchRequest()
      request.predicate = predicate
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      return try context.fetch(request).map(\.name)
    }
  }

  @Test("Custom operators make comparisons of expressions.")
  func operators() throws {
    typealias Keys = Recipe.Keys
    #expect(try names(Keys.cuisine == "french" && Keys.rating > 4) == ["Soup"])
    #expect(try names(Keys.name != "Soup" && !(Keys.servings <= 4)) == ["Pie"])
    #expect(try names(Keys.name.isIn(["Pie", "Stew"]) && Keys.rating.isBetween(2...4)) == ["Stew"])
    #expect(try names(Keys.name.contains("ÖU") || Keys.name.hasPrefix("p")) == ["Pie", "Soup"])
  }

  @Test("A filter makes a compound of the conditions that are set.")
  func filter() throws {
    #expect(try names(RecipeFilter().predicate) == ["Pie", "Soup", "Stew"])
    let filter = RecipeFilter(searchText: "S", cuisines: ["french"], minimumRating: 4, servings: 1...3)
    #expect(try names(filter.predicate) == ["Soup"])
    #expect(try context.performAndWait { try context.fetch(filter.request()).count } == 1)
    for predicate in RecipeFilter.favorites() { #expect(try names(predicate) == ["Soup"], "\(predicate)") }
  }

  @Test("Dates can be arguments as values and as objects.")
  func dates() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = TimeZone(secondsFromGMT: 0)!
    let second = start.addingTimeInterval(86400)
    #expect(try names(.created(after: second)) == ["Pie"])
    #expect(try names(.created(before: second)) == ["Soup"])
    #expect(try names(.created(on: second, calendar: calendar)) == ["Stew"])
    #expect(try names(.created(in: DateInterval(start: start, end: second))) == ["Soup", "Stew"])
    let months = [DateComponents(year: 2023, month: 11), DateComponents(year: 2024, month: 1)]
    #expect(try names(.created(in: months, calendar: calendar)).count == 3)
    #expect(try names(.matching(name: nil, after: start, minimumServings: 5)) == ["Pie"])
    #expect(try names(.matching(name: "Soup", after: nil, minimumServings: nil)) == ["Soup"])
    let newest = try context.performAndWait { try context.fetch(Recipe.newest(1, before: second)).map(\.name) }
    #expect(newest == ["Soup"])
  }

  @Test("Identifiers, URLs, data, collections and objects can be arguments.")
  func identifiers() throws {
    let lookup = RecipeLookup(context: context)
    try context.performAndWait {
      let soup = try #require(try lookup.recipe(host: "soup.example"))
      let id = try #require(soup.id)
      #expect(try lookup.recipe(id: id) == soup)
      #expect(try lookup.recipe(uuid: id as NSUUID) == soup)
      #expect(try lookup.recipes(ids: [id, UUID()]) == [soup])
      #expect(try lookup.recipes(except: [id]).map(\.name) == ["Pie", "Stew"])
      #expect(try lookup.recipe(website: try #require(soup.website)) == soup)
      #expect(try lookup.recipe(thumbnail: Data("Pie".utf8))?.name == "Pie")
      #expect(try lookup.recipes(withObjectIDs: [soup.objectID]) == [soup])
      #expect(try lookup.ingredients(of: soup).map(\.name) == ["Leek", "Salt"])
      #expect(try lookup.ingredients(cheaperThan: 2).map(\.name) == ["Salt"])
    }
  }

  @Test("Collections can be queried with ANY, ALL, SUBQUERY and operators.")
  func relationships() throws {
    func found(_ query: IngredientQuery) throws -> [String] {
      try context.performAndWait { try query.names(in: context) }
    }
    #expect(try found(.contains("leek")) == ["Soup", "Stew"])
    #expect(try found(.containsAll(["Leek", "Wine"])) == ["Stew"])
    #expect(try found(.atLeast(2)) == ["Soup", "Stew"])
    #expect(try found(.expensive(over: 8, count: 2)) == ["Stew"])
    #expect(try found(.onlyCheaperThan(4)) == ["Pie", "Soup"])
    #expect(try found(.without("Leek")) == ["Pie"])
    #expect(try found(.totalOver(3)) == ["Stew"])
    #expect(try names(IngredientQuery.priced(over: 8, minimum: 1)) == ["Stew"])
  }

  @Test("A search finds every token in any field, with patterns and exclusions.")
  func search() throws {
    func found(_ text: String) throws -> [String] {
      try names(SearchQuery(text: text, fields: ["name", "cuisine"]).predicate)
    }
    #expect(try found("FRÉNCH s") == ["Soup", "Stew"])
    #expect(try found("french -stew") == ["Soup"])
    #expect(try found("S*p") == ["Soup"])
    #expect(try found("/P.e/") == ["Pie"])
    #expect(try found(" ").count == 3)
    #expect(SearchQuery.matches("E", in: ["tea", "milk"]) == ["tea"])
    #expect(SearchQuery.isValidEmail("a.b@example.com") && !SearchQuery.isValidEmail("a.b"))
    let all = try context.performAndWait { try context.fetch(NSFetchRequest<Recipe>(entityName: "Recipe")) }
    let query = SearchQuery(text: "pi", fields: ["name"])
    #expect(context.performAndWait { all.filtered(by: query).map(\.name) } == ["Pie"])
  }

  @Test("Expression descriptions sum, group and select distinct values.")
  func statistics() throws {
    let statistics = RecipeStatistics(context: context)
    try context.performAndWait {
      let total = try statistics.totalPrice()
      #expect(total == 28.1)
      #expect(try statistics.highestRating(of: "french") == 4.5)
      #expect(try statistics.distinctCuisines() == ["french"])
      let french = CuisineStatistics(cuisine: "french", count: 2, averageRating: 3.75)
      #expect(try statistics.byCuisine(minimumCount: 2) == [french])
    }
  }

  @Test("Sort descriptors by key, selector, key path and block order and page results.")
  func sorting() throws {
    try context.performAndWait {
      let list = RecipeList(context: context)
      #expect(try list.names() == ["Pie", "Soup", "Stew"])
      #expect(try list.reversedNames() == ["Stew", "Soup", "Pie"])
      #expect(try list.page(1, size: 2) == ["Stew"])
      list.sort = list.sort.next
      #expect(try list.names() == ["Pie", "Stew", "Soup"])
      list.sort = .rating
      #expect(try list.names() == ["Pie", "Soup", "Stew"])
      list.sort = .cuisine
      #expect(try list.names() == ["Pie", "Soup", "Stew"])
      let recipes = try context.fetch(NSFetchRequest<Recipe>(entityName: "Recipe"))
      #expect(list.namesByLength(recipes) == ["Pie", "Soup", "Stew"])
    }
  }

  @Test("A predicate tree can be walked by its types.")
  func inspector() throws {
    var writer = QueryWriter()
    let predicate = NSPredicate(
      format: "name BEGINSWITH[c] %@ AND (rating >= 3.5 OR NOT cuisine IN %@)", "s", ["french"])
    let clause = try writer.clause(for: predicate)
    #expect(clause == "(name starts with nocase ? and (rating >= ? or not (cuisine in ?)))")
    #expect(writer.arguments.count == 3)
    #expect(throws: QueryWriter.Problem.unsupportedOperator(.like)) {
      try writer.clause(for: NSPredicate(format: "name LIKE 'a*'"))
    }
    #expect(throws: QueryWriter.Problem.unsupportedExpression(.function)) {
      try writer.clause(for: NSPredicate(format: "uppercase(name) == 'A'"))
    }
    #expect(QueryWriter.operators([4, 99, 1000]) == [.equalTo, .contains])
  }

  @Test("Templates take variables, and expressions compute.")
  func templates() throws {
    let model = CookbookModel.shared.copy() as! NSManagedObjectModel
    SavedSearch.install(in: model)
    let controller = NSPersistentStoreCoordinator(managedObjectModel: model)
    try controller.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = controller
    try context.performAndWait {
      for (name, rating) in [("Tart", 3.0), ("Flan", 5.0)] {
        let entity = try #require(model.entitiesByName["Recipe"])
        let recipe = Recipe(entity: entity, insertInto: context)
        (recipe.name, recipe.rating, recipe.cuisine) = (name, rating, "french")
      }
      try context.save()
      let found = try SavedSearch.cuisine.names(with: ["CUISINE": "french", "RATING": 4], in: context)
      #expect(found == ["Flan"])
      #expect(try SavedSearch.rating.names(with: ["RATING": 1], in: context) == ["Flan", "Tart"])
    }
    #expect(PriceRule("price * (100 + %d) / 100", 20).value(for: ["price": 50.0]) == 60)
    #expect(PriceRule.median([3, 1, 2]) == 2)
    let applied = Rule.all.filter { $0.applies(to: ["name": "Soup", "servings": 4], variables: ["LIMIT": 3]) }
    #expect(applied.map(\.name) == ["always", "large", "block"])
  }
}
