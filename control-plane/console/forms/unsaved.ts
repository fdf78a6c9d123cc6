import { useEffect, useId } from 'react';

/** Forms whose work is not saved, by an id of their own. */
const unsaved = new Set<string>();

/** While `isUnsaved`, the page is not left without a question. */
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

export function hasUnsavedWork(): boolean {
  return unsaved.size > 0;
}

/** For a page that is left because what it edits was removed. */
export function discardUnsavedWork(): void {
  unsaved.clear();
}
