package m;

class ChildTest extends AbstractBase {
    @Override
    int value() {
        return 2;
    }
}
