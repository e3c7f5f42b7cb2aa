import Foundation

/// Finds the managed object class of an entity among the classes of the program.
enum ManagedObjectClass {
  /// The class that an entity names. A name without a module is looked up in each of ``modules(of:)``. Nil if there is
  /// no such class, or if it does not inherit from `NSManagedObject`.
  static func of(_ entity: NSEntityDescription) -> NSManagedObject.Type? {
    let name = className(of: entity)
    return name == "NSManagedObject" ? NSManagedObject.self : named(name, for: entity)
  }

  /// The class with a name, which inherits from `Class`. A name without a module is looked up in the modules that use
  /// the model of an entity. Nil if there is no such class.
  static func named<Class: AnyObject>(
    _ name: String, for entity: NSEntityDescription, _ type: Class.Type = NSManagedObject.self
  ) -> Class.Type? {
    if name.contains(".") { return NSClassFromString(name) as? Class.Type }
    return modules(of: entity).lazy.compactMap { NSClassFromString("\($0).\(name)") as? Class.Type }.first
  }

  /// What a message says about an entity whose class was not found: the name of the class, and where it was looked up.
  static func complaint(about entity: NSEntityDescription) -> String {
    let name = className(of: entity)
    let found = "\(name) of the entity \(entity.name ?? "without name")"
    guard !name.contains(".") else { return found }
    let modules = modules(of: entity)
    return modules.isEmpty
      ? "\(found), in no known module" : "\(found), in the module \(modules.joined(separator: " or "))"
  }

  /// The module that a value of `#fileID` names before its slash; nil if that part is empty.
  static func module(of fileID: String) -> String? {
    let module = fileID.prefix { $0 != "/" }
    return module.isEmpty ? nil : String(module)
  }

  /// The modules in which the class is looked up: those recorded for the entity, then those that use the model.
  private static func modules(of entity: NSEntityDescription) -> [String] {
    entity.modules + (entity.owner?.callers ?? []).filter { !entity.modules.contains($0) }
  }

  /// The class name without a leading full stop, which stands for the module that uses the model.
  private static func className(of entity: NSEntityDescription) -> String {
    let name = entity.managedObjectClassName ?? "NSManagedObject"
    return name.hasPrefix(".") ? String(name.dropFirst()) : name
  }
}
