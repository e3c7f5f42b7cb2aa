import CoreData

/// The model of the recipes, made in code.
enum CookbookModel {
  static let shared: NSManagedObjectModel = {
    let recipe = NSEntityDescription()
    recipe.name = "Recipe"
    recipe.managedObjectClassName = NSStringFromClass(Recipe.self)

    let ingredient = NSEntityDescription()
    ingredient.name = "Ingredient"
    ingredient.managedObjectClassName = NSStringFromClass(Ingredient.self)

    let ingredients = NSRelationshipDescription()
    ingredients.name = "ingredients"
    ingredients.destinationEntity = ingredient
    ingredients.deleteRule = .cascadeDeleteRule
    ingredients.minCount = 0
    ingredients.maxCount = 0

    let owner = NSRelationshipDescription()
    owner.name = "recipe"
    owner.destinationEntity = recipe
    owner.deleteRule = .nullifyDeleteRule
    owner.minCount = 0
    owner.maxCount = 1

    ingredients.inverseRelationship = owner
    owner.inverseRelationship = ingredients

    recipe.properties = [
      attribute("id", .UUIDAttributeType),
      attribute("name", .stringAttributeType, optional: false, default: "Untitled"),
      attribute("cuisine", .stringAttributeType),
      attribute("servings", .integer16AttributeType, default: 2),
      attribute("rating", .doubleAttributeType, default: 0.0),
      attribute("isFavorite", .booleanAttributeType, default: false),
      attribute("createdAt", .dateAttributeType),
      attribute("website", .URIAttributeType),
      attribute("thumbnail", .binaryDataAttributeType),
      ingredients,
    ]
    recipe.attributesByName["thumbnail"]?.allowsExternalBinaryDataStorage = true
    ingredient.properties = [
      attribute("name", .stringAttributeType, optional: false),
      attribute("price", .decimalAttributeType, default: NSDecimalNumber.zero),
      owner,
    ]

    let model = NSManagedObjectModel()
    model.entities = [recipe, ingredient]
    return model
  }()

  private static func attribute(
    _ name: String, _ type: NSAttributeType, optional: Bool = true, default defaultValue: Any? = nil
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = optional
    attribute.defaultValue = defaultValue
    return attribute
  }
}
