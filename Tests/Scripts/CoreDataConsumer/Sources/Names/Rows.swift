import Foundation

/// This file imports only Foundation; it sees Core Data's members because other files of the module import Core Data.
func found(_ rows: [[String: Any]], after date: Date) -> [String] {
  let predicate = NSPredicate(format: "date > %@", date as CVarArg)
  let sorted = (rows as NSArray).filtered(using: predicate) as NSArray
  let names = sorted.sortedArray(using: [NSSortDescriptor(key: "name", ascending: false)])
  return names.compactMap { ($0 as? [String: Any])?["name"] as? String }
}

func comparesEqual(_ predicate: NSPredicate) -> Bool {
  (predicate as? NSComparisonPredicate)?.predicateOperatorType == .equalTo
}
