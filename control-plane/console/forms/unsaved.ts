import { useEffect, useId, useSyncExternalStore } from 'react';

/** Ids of the forms with unsaved changes. */
const unsaved = new Set<string>();

/** While `isUnsaved` is true, leaving the page needs a confirmation. */
export function useUnsaved(isUnsaved: boolean): void {
  const id = useId();
  useEffect(() => {
    if (!isUnsaved) return undefined;
    unsaved.add(id);
    return () => {
      unsaved.delete(id);
    };
  }, [id, isUnsaved]);
}

let waiting: (() => void) | undefined;
const listeners = new Set<() => void>();

/** Runs an action that would lose unsaved changes: immediately if there are none, otherwise after confirmation. */
export function leaveThen(action: () => void): void {
  if (!hasUnsavedWork()) return action();
  setWaiting(action);
}

/** The action that `leaveThen` holds until it is confirmed, and a function that drops it. */
export function useWaitingToLeave(): readonly [action: (() => void) | undefined, clear: () => void] {
  const action = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => waiting,
  );
  return [action, clearWaiting];
}

const clearWaiting = (): void => setWaiting(undefined);

function setWaiting(action: (() => void) | undefined): void {
  waiting = action;
  for (const listener of listeners) listener();
}

export function hasUnsavedWork(): boolean {
  return unsaved.size > 0;
}

/** Forgets all unsaved changes: the user confirmed leaving, or the entity was removed. */
export function discardUnsavedWork(): void {
  unsaved.clear();
}
