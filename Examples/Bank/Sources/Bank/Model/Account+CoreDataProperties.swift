// Written by modelgen for the entity Account. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension Account {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Account> {
    NSFetchRequest<Account>(entityName: "Account")
  }
}

#if canImport(Darwin)
  extension Account {
    @NSManaged var number: Int64
    @NSManaged var balance: Int64
    @NSManaged var deposits: NSSet?
    @objc(addDepositsObject:)
    @NSManaged func addToDeposits(_ value: Transfer)
    @objc(removeDepositsObject:)
    @NSManaged func removeFromDeposits(_ value: Transfer)
    @objc(addDeposits:)
    @NSManaged func addToDeposits(_ values: NSSet)
    @objc(removeDeposits:)
    @NSManaged func removeFromDeposits(_ values: NSSet)
    @NSManaged var withdrawals: NSSet?
    @objc(addWithdrawalsObject:)
    @NSManaged func addToWithdrawals(_ value: Transfer)
    @objc(removeWithdrawalsObject:)
    @NSManaged func removeFromWithdrawals(_ value: Transfer)
    @objc(addWithdrawals:)
    @NSManaged func addToWithdrawals(_ values: NSSet)
    @objc(removeWithdrawals:)
    @NSManaged func removeFromWithdrawals(_ values: NSSet)
  }
#else
  extension Account {
    var number: Int64 {
      get { attributeValue(forKey: "number") ?? 0 }
      set { setAttributeValue(newValue, forKey: "number") }
    }
    var balance: Int64 {
      get { attributeValue(forKey: "balance") ?? 0 }
      set { setAttributeValue(newValue, forKey: "balance") }
    }
    var deposits: NSSet? {
      get { value(forKey: "deposits") as! NSSet? }
      set { setValue(newValue, forKey: "deposits") }
    }
    func addToDeposits(_ value: Transfer) { mutableSetValue(forKey: "deposits").add(value) }
    func removeFromDeposits(_ value: Transfer) { mutableSetValue(forKey: "deposits").remove(value) }
    func addToDeposits(_ values: NSSet) { mutableSetValue(forKey: "deposits").union(Set(values.allObjects as! [NSManagedObject])) }
    func removeFromDeposits(_ values: NSSet) { mutableSetValue(forKey: "deposits").minus(Set(values.allObjects as! [NSManagedObject])) }
    var withdrawals: NSSet? {
      get { value(forKey: "withdrawals") as! NSSet? }
      set { setValue(newValue, forKey: "withdrawals") }
    }
    func addToWithdrawals(_ value: Transfer) { mutableSetValue(forKey: "withdrawals").add(value) }
    func removeFromWithdrawals(_ value: Transfer) { mutableSetValue(forKey: "withdrawals").remove(value) }
    func addToWithdrawals(_ values: NSSet) { mutableSetValue(forKey: "withdrawals").union(Set(values.allObjects as! [NSManagedObject])) }
    func removeFromWithdrawals(_ values: NSSet) { mutableSetValue(forKey: "withdrawals").minus(Set(values.allObjects as! [NSManagedObject])) }
  }

  extension Account: Observable {}
#endif

extension Account: Identifiable {}
