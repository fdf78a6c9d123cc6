import { Type } from 'typebox';

const count = Type.Integer({ minimum: 0 });

/** Answer of revert and abandon. */
export const undoReply = Type.Object({
  revertedCount: count,
  restoredCount: count,
  discardedCount: count,
  notFoundCount: count,
  remainingChanges: count,
});
