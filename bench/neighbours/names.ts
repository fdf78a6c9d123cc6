/** Names of this zone resolve to this machine; the bench's name server answers for no others. */
export const answeredZone = '.answered.test';
export const silentZone = '.silent.test';
