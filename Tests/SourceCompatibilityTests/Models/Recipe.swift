import CoreData
import Foundation

final class Recipe: NSManagedObject {
  var id: UUID? {
    get { value(forKey: "id") as? UUID }
    set { setValue(newValue, forKey: "id") }
  }
  var name: String {
    get { value(forKey: "name") as? String ?? "" }
    set { setValue(newValue, forKey: "name") }
  }
  var cuisine: String? {
    get { value(forKey: "cuisine") as? String }
    set { setValue(newValue, forKey: "cuisine") }
  }
  var servings: Int16 {
    get { value(forKey: "servings") as? Int16 ?? 0 }
    set { setValue(newValue, forKey: "servings") }
  }
  var rating: Double {
    get { value(forKey: "rating") as? Double ?? 0 }
    set { setValue(newValue, forKey: "rating") }
  }
  var isFavorite: Bool {
    get { value(forKey: "isFavorite") as? Bool ?? false }
    set { setValue(newValue, forKey: "isFavorite") }
  }
  var createdAt: Date? {
    get { value(forKey: "createdAt") as? Date }
    set { setValue(newValue, forKey: "createdAt") }
  }
  var website: URL? {
    get { value(forKey: "website") as? URL }
    set { setValue(newValue, forKey: "website") }
  }
  var thumbnail: Data? {
    get { value(forKey: "thumbnail") as? Data }
    set { setValue(newValue, forKey: "thumbnail") }
  }
  var ingredients: Set<Ingredient> {
    get { value(forKey: "ingredients") as? Set<Ingredient> ?? [] }
    set { setValue(newValue, forKey: "ingredients") }
  }

  class func fetchRequest() -> NSFetchRequest<Recipe> {
    return NSFetchRequest<Recipe>(entityName: "Recipe")
  }
}

final class Ingredient: NSManagedObject {
  var name: String {
    get { value(forKey: "name") as? String ?? "" }
    set { setValue(newValue, forKey: "name") }
  }
  var price: Decimal {
    get { (value(forKey: "price") as? NSDecimalNumber)?.decimalValue ?? 0 }
    set { setValue(newValue as NSDecimalNumber, forKey: "price") }
  }
  var recipe: Recipe? {
    get { value(forKey: "recipe") as? Recipe }
    set { setValue(newValue, forKey: "recipe") }
  }
}

extension Recipe {
  var sortedIngredients: [Ingredient] {
    ingredients.sorted { $0.name < $1.name }
  }

  var totalPrice: Decimal {
    ingredients.reduce(0) { $0 + $1.price }
  }

  @discardableResult
  func addIngredient(_ name: String, price: Decimal) -> Ingredient {
    let ingredient = Ingredient(context: managedObjectContext!)
    ingredient.name = name
    ingredient.price = price
    ingredient.recipe = self
    return ingredient
  }
}
