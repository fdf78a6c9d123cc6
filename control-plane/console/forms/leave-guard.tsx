import { useEffect } from 'react';
import type { ReactElement } from 'react';
import { useBlocker } from 'react-router';
import { Confirm } from '../design/confirm.tsx';
import { discardUnsavedWork, hasUnsavedWork, useWaitingToLeave } from './unsaved.ts';

/**
 * Asks for confirmation before unsaved changes are lost: by a link, Back, closing the page, signing out or switching
 * accounts.
 */
export function LeaveGuard(): ReactElement | null {
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => hasUnsavedWork() && currentLocation.pathname !== nextLocation.pathname,
  );
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => {
      if (hasUnsavedWork()) event.preventDefault();
    };
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, []);
  const [waiting, clear] = useWaitingToLeave();
  if (blocker.state !== 'blocked' && waiting === undefined) return null;
  return (
    <Confirm
      title="Leave without saving?"
      action="Leave without saving"
      cancel="Stay"
      isDanger
      onDone={() => {
        blocker.reset?.();
        clear();
      }}
      onConfirm={async () => {
        discardUnsavedWork();
        blocker.proceed?.();
        waiting?.();
      }}
    >
      <p>The changes on this page are not saved and would be lost.</p>
    </Confirm>
  );
}
