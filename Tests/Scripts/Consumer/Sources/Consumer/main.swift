import Cairn

let store = try Store.open(at: "planets.cairn")
let planets = try store.keyspace("planets")
let moons = try store.keyspace("moons")

try store.write { batch in
  try planets.put("the red one", at: "Mars", in: &batch)
  try moons.put("11.3 km", at: ["Mars", "Phobos"], in: &batch)
  try moons.put("6.2 km", at: ["Mars", "Deimos"], in: &batch)
}

let before = store.snapshot()
try planets.update("Mars", as: String.self) { $0 = "the rusty one" }
print(try planets.get("Mars", as: String.self)!)
print(try planets.get("Mars", as: String.self, at: before)!)
for moon in try moons.rows(.prefix(["Mars"])) { print(moon.key, moon.text!) }
