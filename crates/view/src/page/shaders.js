// Shaders.
//
// Particles are summed, in any order, as colour times weight and weight, in a texture of half floats; a second pass
// computes the mean colour, with an opacity that increases with the weight. Where thousands of particles overlap, the
// colour shows their mean quantity, on light and dark backgrounds, and does not flicker when the order changes.

import { LONGEST_TANGENT } from "./maths.js";

export const PARTICLES = {
  vertex: `#version 300 es
    precision highp float;
    layout(location = 0) in vec3 p0;
    layout(location = 1) in vec3 v0;
    layout(location = 2) in vec3 p1;
    layout(location = 3) in vec3 v1;
    layout(location = 4) in float mass;
    layout(location = 5) in vec2 star;  // of stars that age: see shine() in stars.js
    uniform mat4 view, projection;
    uniform vec3 centre;
    uniform float part, between;      // fraction of the interval; factor from velocity to tangent
    uniform float focal;              // size in pixels of a length of 1 at a distance of 1
    uniform float radius, mean_mass;  // radius of a particle of mean mass; mean mass
    uniform vec2 range;               // range of the quantity shown in colour
    uniform int quantity;             // 0 speed, 1 mass, 2 none, 3 temperature
    uniform vec3 plain;
    uniform vec3 remnants[3];         // colours of white dwarfs, neutron stars, black holes
    uniform sampler2D map;
    out vec3 colour;
    out float weight;

    vec3 limited(vec3 tangent, float longest) {
      float l = length(tangent);
      return l > longest ? tangent * (longest / l) : tangent;
    }

    vec3 hermite() {
      float longest = ${LONGEST_TANGENT.toFixed(1)} * length(p1 - p0);
      vec3 a = limited(v0 * between, longest), b = limited(v1 * between, longest);
      float u = part, v = 1.0 - part;
      return (1.0 + 2.0 * u) * v * v * p0 + u * v * v * a + u * u * (3.0 - 2.0 * u) * p1 - u * u * v * b;
    }

    void main() {
      vec4 at = view * vec4(hermite() - centre, 1.0);
      gl_Position = projection * at;
      float larger = quantity == 3 ? star.y : clamp(pow(mass / mean_mass, 0.3333), 0.6, 5.0);
      float size = 2.0 * radius * focal / max(-at.z, 1e-30) * larger;
      // A particle smaller than the minimum size is drawn at that size and fainter, so that it stays visible.
      weight = mass > 0.0 ? clamp(size * size / 6.25, 0.12, 1.0) : 0.0;
      gl_PointSize = clamp(size, 2.5, 64.0);
      float value = quantity == 0 ? length(mix(v0, v1, part)) : mass;
      if (quantity == 1) value = log(max(value, 1e-30));
      float u = quantity == 3 ? star.x : clamp((value - range.x) / max(range.y - range.x, 1e-30), 0.0, 1.0);
      colour = quantity == 2 ? plain : texture(map, vec2(u, 0.5)).rgb;
      if (quantity == 3 && u > 1.5) colour = remnants[clamp(int(u + 0.5) - 2, 0, 2)];
    }`,
  fragment: `#version 300 es
    precision highp float;
    in vec3 colour;
    in float weight;
    out vec4 sum;
    void main() {
      float d = length(gl_PointCoord * 2.0 - 1.0);
      if (d > 1.0) discard;
      // Disc with a smooth edge.
      float w = weight * (1.0 - smoothstep(0.35, 1.0, d));
      sum = vec4(colour * w, w);
    }`,
};

export const PICTURE = {
  vertex: `#version 300 es
    void main() {
      // One triangle that covers the screen.
      gl_Position = vec4(vec2((gl_VertexID << 1) & 2, gl_VertexID & 2) * 2.0 - 1.0, 0.0, 1.0);
    }`,
  fragment: `#version 300 es
    precision highp float;
    uniform sampler2D sums;
    uniform vec3 ground;
    uniform float glow;
    out vec4 seen;
    void main() {
      vec4 sum = texelFetch(sums, ivec2(gl_FragCoord.xy), 0);
      vec3 mean = sum.rgb / max(sum.a, 1e-6);
      float opaque = 1.0 - exp(-1.8 * sum.a);
      // Dense regions are brighter on a dark background and darker on a light one.
      float crowd = clamp(log2(1.0 + 0.25 * sum.a) / 7.0, 0.0, 1.0);
      vec3 dense = glow > 0.0 ? mix(mean, vec3(1.0), 0.75 * crowd) : mean * (1.0 - 0.45 * crowd);
      seen = vec4(mix(ground, dense, opaque), 1.0);
    }`,
};
