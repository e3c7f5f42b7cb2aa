// Apple's Core Data re-exports Foundation; so does this module.
@_exported public import Foundation
