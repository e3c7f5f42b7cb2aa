import Foundation

@testable import OpenCoreData

/// Four employees of two of three departments, with the model that describes them.
struct Staff {
  let model = NSManagedObjectModel()
  let employee = entity("Employee", class: "Employee")
  let department = entity("Department", class: "Department")
  let project = entity("Project", class: "Project")

  let ada = StoredRow(1, ["name": "Ada", "salary": 30.0, "age": 36, "isManager": true, "notes": ["a", "b"]])
  let bob = StoredRow(2, ["name": "Bob", "salary": 20.0, "age": 25, "isManager": false])
  let cleo = StoredRow(3, ["name": "Cleo", "salary": 20.0, "isManager": false, "place": ["city": "Paris"]])
  let dan = StoredRow(4, ["name": "dán", "age": 51])
  let research = StoredRow(5, ["name": "Research", "budget": 100])
  let sales = StoredRow(6, ["name": "Sales", "budget": 50])
  let empty = StoredRow(7, ["name": "Empty", "employees": NSOrderedSet()])
  let moon = StoredRow(8, ["title": "Moon", "priority": 1])
  let mars = StoredRow(9, ["title": "Mars", "priority": 2])

  var employees: [StoredRow] { [ada, bob, cleo, dan] }
  var departments: [StoredRow] { [research, sales, empty] }

  init() {
    describe()
    for (person, department, boss, projects) in [
      (ada, research, nil, [moon, mars]), (bob, research, ada, [moon]), (cleo, sales, ada, []), (dan, nil, bob, [mars]),
    ] as [(StoredRow, StoredRow?, StoredRow?, [StoredRow])] {
      person.values["department"] = department
      person.values["boss"] = boss
      person.values["projects"] = NSSet(array: projects)
    }
    ada.values["reports"] = NSSet(array: [bob, cleo])
    bob.values["reports"] = NSSet(array: [dan])
    cleo.values["reports"] = NSSet()
    dan.values["reports"] = NSSet()
    research.values["employees"] = NSOrderedSet(array: [ada, bob])
    sales.values["employees"] = NSOrderedSet(array: [cleo])
    moon.values["members"] = NSSet(array: [ada, bob])
    mars.values["members"] = NSSet(array: [ada, dan])
  }

  private func describe() {
    let boss = relationship("boss", to: employee, isToMany: false)
    let reports = relationship("reports", to: employee)
    let employer = relationship("department", to: department, isToMany: false)
    let employed = relationship("employees", to: employee) { $0.isOrdered = true }
    let projects = relationship("projects", to: project)
    let members = relationship("members", to: employee)
    connect(boss, reports)
    connect(employer, employed)
    connect(projects, members)
    let peers = NSFetchedPropertyDescription()
    peers.name = "peers"
    employee.properties = [
      attribute("name", .string), attribute("salary", .double), attribute("age", .integer16),
      attribute("isManager", .boolean), attribute("notes", .transformable),
      composite("place", [attribute("city", .string)]),
      attribute("badge", .undefined) { $0.isTransient = true }, boss, reports, employer, projects, peers,
    ]
    department.properties = [attribute("name", .string), attribute("budget", .integer32), employed]
    project.properties = [attribute("title", .string), attribute("priority", .integer16), members]
    model.entities = [employee, department, project]
  }

  /// A request for dictionaries, unless `change` sets another result type.
  func request(_ change: (NSFetchRequest<NSDictionary>) -> Void = { _ in }) -> NSFetchRequest<NSDictionary> {
    let request = NSFetchRequest<NSDictionary>()
    request.resultType = .dictionaryResultType
    change(request)
    return request
  }

  func compiled(
    _ request: NSFetchRequest<NSDictionary>, of entity: NSEntityDescription? = nil
  ) throws(FetchRequestError) -> CompiledFetch<StoredRow> {
    try CompiledFetch(request, of: entity ?? employee, reading: .keyed)
  }

  /// The names of the employees that a predicate holds for.
  func names(_ predicate: NSPredicate) throws -> String {
    joined(try compiled(request { $0.predicate = predicate }).rows(among: employees))
  }

  /// The names of the employees that a format holds for.
  func names(_ format: String, _ arguments: Any?...) throws -> String {
    try names(NSPredicate(parsing: format, arguments: arguments))
  }

  /// The names of the departments that a format holds for.
  func departmentNames(_ format: String) throws -> String {
    let request = request { $0.predicate = NSPredicate(format: format) }
    return joined(try compiled(request, of: department).rows(among: departments))
  }

  /// The names of the employees, sorted.
  func names(sortedBy descriptors: NSSortDescriptor...) throws -> String {
    joined(try compiled(request { $0.sortDescriptors = descriptors }).rows(among: employees))
  }

  func joined(_ rows: [StoredRow]) -> String { rows.map { "\($0.values["name"] ?? "")" }.joined(separator: " ") }

  /// The result of a dictionary fetch of the employees.
  func dictionaries(_ change: (NSFetchRequest<NSDictionary>) -> Void) throws -> [NSDictionary] {
    try compiled(request(change)).dictionaries(among: employees)
  }
}

/// A computed column.
func column(
  _ name: String, _ format: String, _ type: NSAttributeType = .undefinedAttributeType
) -> NSExpressionDescription {
  let column = NSExpressionDescription()
  column.name = name
  column.expression = OpenCoreData.NSExpression(format: format)
  column.expressionResultType = type
  return column
}
