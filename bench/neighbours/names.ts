/** Names of this zone lead to this machine; the bench's name server knows no others. */
export const answeredZone = '.answered.test';
export const silentZone = '.silent.test';
