import Comparing
import OpenCoreData

extension CoreDataContender {
  /// Packages, with versions that are deleted with them; the versions' maintainers and sections; and the packages on
  /// which versions depend.
  static func model() -> NSManagedObjectModel {
    let package = NSEntityDescription("Package", ["name": .string], unique: ["name"])
    let maintainer = NSEntityDescription(
      "Maintainer", ["name": .string, "email": .string], unique: ["name", "email"])
    let section = NSEntityDescription("Section", ["name": .string], unique: ["name"])
    let version = NSEntityDescription(
      "Version",
      [
        "number": .string, "architecture": .string, "homepage": .string, "summary": .string, "sha256": .string,
        "installedSize": .integer64, "size": .integer64,
      ], optional: ["homepage"])
    version.relate("package", isToMany: false, package, "versions", rule: .cascadeDeleteRule)
    version.relate("maintainer", isToMany: false, maintainer, "versions")
    version.relate("section", isToMany: false, section, "versions")
    version.relate("dependencies", isToMany: true, package, "dependents")
    let model = NSManagedObjectModel()
    model.entities = [package, maintainer, section, version]
    return model
  }
}
