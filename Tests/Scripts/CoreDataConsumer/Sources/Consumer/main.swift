import CoreData
import Foundation

/// Written as in applications on Apple's platforms, with Foundation beside Core Data.
func describe(_ model: NSManagedObjectModel) -> [String] {
  model.entities.compactMap { entity -> String? in
    guard let name = entity.name else { return nil }
    let attributes = entity.attributesByName.keys.sorted().joined(separator: ", ")
    return "\(name): \(attributes)"
  }
}

let note = NSEntityDescription()
note.name = "Note"
note.managedObjectClassName = "Note"
let text = NSAttributeDescription()
text.name = "text"
text.attributeType = .stringAttributeType
text.isOptional = false
text.defaultValue = ""
let created = NSAttributeDescription()
created.name = "created"
created.type = .date
created.defaultValue = Date(timeIntervalSinceReferenceDate: 0)
note.properties = [text, created]
let model = NSManagedObjectModel()
model.entities = [note]

let request: NSFetchRequest<NSFetchRequestResult> = NSFetchRequest(entityName: "Note")
request.predicate = NSPredicate(format: "text BEGINSWITH %@ AND created > $SINCE", "Dear")
request.sortDescriptors = [NSSortDescriptor(key: "created", ascending: false)]
model.setFetchRequestTemplate(request, forName: "all")

let predicates: [NSPredicate] = [request.predicate].compactMap { $0 }
let sorting: [NSSortDescriptor]? = model.fetchRequestTemplate(forName: "all")?.sortDescriptors

print(describe(model).joined(separator: "\n"))
print(predicates.count, sorting?.count ?? -1, model.versionChecksum)

let since: [String: Any] = ["SINCE": Date(timeIntervalSinceReferenceDate: 0)]
let recent = model.fetchRequestFromTemplate(withName: "all", substitutionVariables: since)?.predicate
let letter: [String: Any] = ["text": "Dear reader", "created": Date(timeIntervalSinceReferenceDate: 1)]
print(recent is NSCompoundPredicate, recent?.evaluate(with: letter) ?? false)

guard let url = Bundle.module.url(forResource: "Diary", withExtension: "xcdatamodeld", subdirectory: "Models"),
  let diary = NSManagedObjectModel(contentsOf: url)
else { fatalError("There is no model in the bundle.") }
print(describe(diary).joined(separator: "\n"))
