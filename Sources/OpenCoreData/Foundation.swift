// Apple's Core Data hands Foundation on to who imports it; so does this one.
@_exported public import Foundation
