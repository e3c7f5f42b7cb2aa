import CoreData

/// The entity's code generation is Category/Extension: the class itself is written by hand.
class Magazine: Publication {}
