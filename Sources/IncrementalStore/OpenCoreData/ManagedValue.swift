import OpenCoreData

/// A value in a slot of an object.
typealias ManagedValue = OpenCoreData.ManagedValue
