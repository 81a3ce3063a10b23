/* Dark or light as the reader's system is, unless the reader has chosen by the button: the stylesheet of some releases
 * of furo knows only what has been chosen. */
(function () {
    const system = window.matchMedia('(prefers-color-scheme: dark)');

    function follow() {
        const chosen = localStorage.getItem('theme') || 'auto';
        document.body.dataset.theme = chosen === 'auto' ? (system.matches ? 'dark' : 'light') : chosen;
    }
    document.addEventListener('DOMContentLoaded', follow);
    document.addEventListener('click', () => setTimeout(follow, 0));
    system.addEventListener('change', follow);
})();
