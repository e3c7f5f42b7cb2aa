package import OpenCoreData

/// A value in a slot of an object.
package typealias ManagedValue = OpenCoreData.ManagedValue
