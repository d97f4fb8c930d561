// Writes choices into the address; null removes a parameter, and other parameters stay. When Python
// rewrites the address from its last known state, this component runs again and repeats its write.
import { writeParameters } from './address_parameters.js';

export default function ({ data: { chosen } }) {
  writeParameters(chosen);
}
