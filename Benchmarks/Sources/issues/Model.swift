import Comparing
import OpenCoreData

extension CoreDataContender {
  /// Issues of projects, with labels, and with comments that are deleted with them.
  static func model() -> NSManagedObjectModel {
    let project = NSEntityDescription("Project", ["name": .string], indexes: [["name"]])
    let label = NSEntityDescription("Label", ["name": .string], indexes: [["name"]])
    let issue = NSEntityDescription(
      "Issue",
      [
        "uuid": .uuid, "number": .integer64, "title": .string, "body": .string, "status": .string,
        "priority": .integer16, "created": .date, "estimate": .double,
      ], optional: ["estimate"], unique: ["uuid"], indexes: [["created"], ["status", "created"]])
    let comment = NSEntityDescription("Comment", ["text": .string, "author": .string, "created": .date])
    issue.relate("project", isToMany: false, project, "issues")
    issue.relate("labels", isToMany: true, label, "issues")
    comment.relate("issue", isToMany: false, issue, "comments", rule: .cascadeDeleteRule)
    let model = NSManagedObjectModel()
    model.entities = [project, label, issue, comment]
    return model
  }
}
