import OpenCoreData

/// A value as objects have it in a slot.
typealias ManagedValue = OpenCoreData.ManagedValue
