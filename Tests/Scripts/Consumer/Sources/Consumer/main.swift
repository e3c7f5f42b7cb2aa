import Cairn

let store = try Store.open(at: "planets.cairn")
let planets = try store.keyspace("planets")
let moons = try store.keyspace("moons")

try store.write { batch in
  try batch.put("the red one", at: "Mars", in: planets)
  try batch.put("11.3 km", at: ["Mars", "Phobos"], in: moons)
  try batch.put("6.2 km", at: ["Mars", "Deimos"], in: moons)
}

let before = store.snapshot()
let mars = try store.row("Mars", in: planets)!
try store.write { batch in
  try batch.put("the rusty one", at: "Mars", in: planets, expecting: .sequence(mars.sequence))
}
print(String(decoding: try store.get("Mars", in: planets)!, as: UTF8.self))
print(String(decoding: try before.get("Mars", in: planets)!, as: UTF8.self))
for moon in try before.rows(.prefix(["Mars"]), in: moons) { print(moon.key) }
