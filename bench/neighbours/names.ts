/** The bench's name server resolves names of this zone to this machine, and answers for no others. */
export const answeredZone = '.answered.test';
export const silentZone = '.silent.test';
