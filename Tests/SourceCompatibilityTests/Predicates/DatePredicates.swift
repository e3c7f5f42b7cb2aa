import CoreData
import Foundation

extension NSPredicate {
  static func created(after date: Date) -> NSPredicate {
    return NSPredicate(format: "createdAt > %@", date as CVarArg)
  }

  static func created(before date: Date) -> NSPredicate {
    return NSPredicate(format: "%K < %@", "createdAt", date as NSDate)
  }

  static func created(on day: Date, calendar: Calendar = .current) -> NSPredicate {
    let start = calendar.startOfDay(for: day)
    let end = calendar.date(byAdding: .day, value: 1, to: start)!
    return NSPredicate(format: "createdAt >= %@ AND createdAt < %@", start as CVarArg, end as CVarArg)
  }

  static func created(in interval: DateInterval) -> NSPredicate {
    return NSPredicate(format: "createdAt BETWEEN {%@, %@}", argumentArray: [interval.start, interval.end])
  }

  static func created(in months: [DateComponents], calendar: Calendar) -> NSPredicate {
    let subpredicates = months.compactMap { month -> NSPredicate? in
      guard let first = calendar.date(from: month),
        let next = calendar.date(byAdding: .month, value: 1, to: first)
      else { return nil }
      return NSPredicate(format: "(createdAt >= %@) AND (createdAt < %@)", first as NSDate, next as NSDate)
    }
    return NSCompoundPredicate(orPredicateWithSubpredicates: subpredicates)
  }

  /// Collects the arguments while the format is put together.
  static func matching(name: String?, after date: Date?, minimumServings: Int?) -> NSPredicate {
    var format = "TRUEPREDICATE"
    var arguments: [CVarArg] = []
    if let name = name {
      format += " AND name == %@"
      arguments.append(name)
    }
    if let date = date {
      format += " AND createdAt > %@"
      arguments.append(date as CVarArg)
    }
    if let minimumServings = minimumServings {
      format += " AND servings >= %d"
      arguments.append(minimumServings)
    }
    return NSPredicate(format: format, argumentArray: arguments)
  }
}

extension Recipe {
  static func newest(_ limit: Int, before date: Date) -> NSFetchRequest<Recipe> {
    let request = Recipe.fetchRequest() as NSFetchRequest<Recipe>
    request.predicate = .created(before: date)
    request.sortDescriptors = [NSSortDescriptor(key: "createdAt", ascending: false)]
    request.fetchLimit = limit
    return request
  }
}
