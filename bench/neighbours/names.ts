/** The bench's name server resolves names of this zone to this machine, and does not answer for other names. */
export const answeredZone = '.answered.test';
export const silentZone = '.silent.test';
